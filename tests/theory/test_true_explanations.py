"""Explanations find what was planted, with the defaults that the accuracies are measured with."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from lann import LANNClassifier
from lann.datasets import make_local_relevance


def truth_found(explanation, mask):
    """Mean area under the curve of every query, the gate left out."""
    pairs = zip(mask[:, 1:], explanation.relevances[:, 1:], strict=True)
    return np.mean([roc_auc_score(planted, found) for planted, found in pairs])


@pytest.mark.parametrize(("n_features", "enough"), [(8, 0.93), (12, 0.97), (20, 0.97)])
def test_planted_features_are_found(n_features, enough):
    X, y, mask = make_local_relevance(2300, n_features, random_state=1000)
    clf = LANNClassifier(random_state=0).fit(X[:2000], y[:2000])
    explanation = clf.explain(X[2000:])
    assert truth_found(explanation, mask[2000:]) > enough
    assert clf.score(X[2000:], y[2000:]) > 0.9


def test_permuted_labels_are_not_explained():
    # A single model without anything to find ranks features somehow, for all queries alike: many are asked.
    found = []
    for seed in range(16):
        X, y, mask = make_local_relevance(400, 12, random_state=2000 + seed)
        permuted = np.random.default_rng(seed).permutation(y[:300])
        clf = LANNClassifier(random_state=0, max_iter=4).fit(X[:300], permuted)
        found.append(truth_found(clf.explain(X[300:]), mask[300:]))
    assert abs(np.mean(found) - 0.5) < 0.1
    assert np.std(found) < 0.2

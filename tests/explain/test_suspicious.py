"""Training rows whose label may be wrong."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import roc_auc_score

from lann import LANNClassifier
from lann.explain import suspicious_rows
from tests.versions import WITH_EARLIER_VERSIONS


def flipped(y, share):
    rng = np.random.default_rng(0)
    rows = rng.choice(len(y), int(share * len(y)), replace=False)
    noisy = y.copy()
    noisy[rows] = (y[rows] + rng.integers(1, y.max() + 1, len(rows))) % (y.max() + 1)
    return noisy, noisy != y


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_flipped_labels_are_found(load):
    X, y = load(return_X_y=True)
    noisy, wrong = flipped(y, 0.05)
    found = suspicious_rows(LANNClassifier(random_state=0).fit(X, noisy))
    assert roc_auc_score(wrong, found.scores) > 0.97
    assert wrong[found.ranking[: wrong.sum()]].mean() > 0.8
    assert (found.likely[wrong] == y[wrong]).mean() > (0.85 if WITH_EARLIER_VERSIONS else 0.9)


def test_scores_are_votes_of_the_wider_neighborhood(blobs, reference):
    X, y = blobs
    clf = LANNClassifier(random_state=0, max_iter=3).fit(X, y)
    found = suspicious_rows(clf, n_neighbors=7)
    metric = clf.model_.levels.class_metric()
    weights = metric.weights_of(slice(None))
    for row in (0, 40, 89):
        distances = (weights * (metric.points - metric.points[row]) ** 2).sum(axis=1)
        near = [j for j in np.argsort(distances) if j != row][:7]
        votes = 1 / np.sqrt(distances[near])
        expected = 1 - votes[y[near] == y[row]].sum() / votes.sum()
        assert found.scores[row] == pytest.approx(expected, abs=0.01)  # ε keeps zero distances finite


@pytest.mark.parametrize("n_candidates", [None, 30])
def test_ranking_suspects_and_frame(blobs, n_candidates):
    X, y = blobs
    labels = np.array(["a", "b", "c"])[y]
    labels[3] = "c"
    clf = LANNClassifier(random_state=0, n_candidates=n_candidates, max_iter=3).fit(X, labels)
    found = suspicious_rows(clf)
    assert (np.diff(found.scores[found.ranking]) <= 0).all()
    assert (found.likely[found.suspects] != labels[found.suspects]).all()
    assert 3 in found.suspects[:10]
    frame = found.to_frame()
    assert frame["row"].tolist() == found.ranking.tolist()
    assert frame["label"].tolist() == labels[found.ranking].tolist()
    assert "90 training rows" in repr(found)


def test_more_neighbors_than_rows_are_all_others(blobs):
    X, y = blobs
    few = suspicious_rows(LANNClassifier(max_iter=0).fit(X[::10], y[::10]), n_neighbors=50)
    assert few.scores.shape == (9,)
    with pytest.raises(ValueError, match="n_neighbors must be an integer of at least 1; got 0"):
        suspicious_rows(LANNClassifier(max_iter=0).fit(X, y), n_neighbors=0)

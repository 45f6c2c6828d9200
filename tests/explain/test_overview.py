from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import Overview


@pytest.fixture(scope="module")
def explanation(iris):
    X, y = iris
    return LANNClassifier(random_state=0, max_iter=3).fit(X[::2], y[::2]).explain(X[1::2])


def test_a_line_for_each_row(explanation):
    rows = explanation.overview().rows
    assert rows["row"].tolist() == list(range(75))
    assert rows["prediction"].tolist() == explanation.predictions.tolist()
    np.testing.assert_array_equal(rows["probability"], explanation.probabilities.max(axis=1))
    assert rows["runner_up"].tolist() == explanation.runner_up.tolist()
    narrowly = [text.startswith("narrowly") for text in explanation.in_words()]
    assert rows["doubtful"].tolist() == narrowly
    assert any(narrowly)


def test_reasons_are_the_largest_supports_with_their_values(explanation):
    reasons = explanation.overview(n_features=1).rows["reasons"]
    for row, text in enumerate(reasons):
        best = explanation.support[row].argmax()
        if explanation.support[row, best] > 0:
            assert text == f"{explanation.feature_names[best]} {explanation.queries[row, best]:g}"
        else:
            assert text == ""
    assert (reasons != "").any()
    with pytest.raises(ValueError, match="n_features must be"):
        explanation.overview(n_features=0)


def test_counts(explanation, iris):
    labels = iris[1][1::2].astype(object)
    labels[3] = None
    overview = replace(explanation, true_labels=labels).overview()
    wrong = [
        label is not None and label != p for label, p in zip(labels, explanation.predictions, strict=True)
    ]
    assert overview.mistakes.tolist() == wrong
    assert overview.n_labels == 74
    assert overview.accuracy == pytest.approx(1 - sum(wrong) / 74)
    assert overview.class_counts == {
        label: int(np.sum(explanation.predictions == label)) for label in range(3)
    }
    unlabeled = explanation.overview()
    assert (unlabeled.n_labels, unlabeled.accuracy, unlabeled.mistakes.any()) == (0, None, False)


def test_parts_are_joined(explanation):
    whole, joined = (
        explanation.overview(),
        Overview.joined([explanation[:20].overview(), explanation[20:].overview()]),
    )
    assert len(joined) == 75
    assert joined.rows["prediction"].tolist() == whole.rows["prediction"].tolist()
    np.testing.assert_allclose(joined.mean_relevances, explanation.relevances.mean(axis=0))
    assert [name for name, _ in joined.relevant_features] == [name for name, _ in whole.relevant_features]
    relevances = [relevance for _, relevance in whole.relevant_features]
    assert relevances == sorted(relevances, reverse=True)


def test_far_rows(explanation):
    is_far = np.arange(75) == 4
    overview = replace(explanation, is_far=is_far).overview()
    assert overview.rows["far"].tolist() == is_far.tolist()
    assert overview.n_far == 1
    assert replace(explanation, is_far=None).overview().n_far is None

"""Explained rows, the overview of many, and their sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import Overview


def test_features_are_ordered_by_relevance(two_rows):
    row = two_rows.row(0)
    assert row.feature_names.tolist() == ["area", "depth", "texture", "width"]
    np.testing.assert_allclose(row.relevances, [0.3, 0.2, 0.1, 0.0])
    np.testing.assert_allclose(row.support, [0.3, -0.2, 0.1, 0.0])
    np.testing.assert_allclose(row.separation, [0.6, -0.4, 0.2, 0.0])
    order = [0, 2, 1, 3]
    np.testing.assert_array_equal(row.values, two_rows.queries[0, order])
    np.testing.assert_array_equal(row.contributions, two_rows.contributions[0][:, order])


def test_prediction_and_votes(two_rows):
    row = two_rows.row(1)
    assert (row.prediction, row.runner_up) == ("benign", "malignant")
    assert row.probability == pytest.approx(0.55)
    assert row.runner_up_probability == pytest.approx(0.45)
    assert row.class_index("malignant") == 1
    assert row.sentence == two_rows.in_words()[1]
    assert row.neighbors.tolist() == [40, 50, 60]
    assert row.neighbor_labels.tolist() == ["malignant", "benign", "benign"]


def test_the_long_table_has_a_line_per_query_neighbor_and_feature(two_rows):
    values = np.array([[1.5, "red", np.nan, 0.0]] * 2, dtype=object)
    training = np.tile(np.array([2.0, "blue", "x", np.nan], dtype=object), (100, 1))
    explanation = replace(two_rows, query_ids=np.array(["p", "q"])).with_values(values, training)
    frame = explanation.to_long_frame()
    assert len(frame) == 2 * 3 * 4
    assert list(frame.columns) == [
        "row", "id", "prediction", "runner_up", "neighbor_row", "neighbor_label", "distance", "vote_share",
        "column", "relevance", "support", "separation", "contribution", "value", "neighbor_value",
        "is_far", "left_out",
    ]  # fmt: skip
    sums = frame.groupby(["row", "neighbor_row"])["contribution"].sum()
    lengths = frame.groupby(["row", "neighbor_row"])["distance"].first()
    np.testing.assert_allclose(sums, lengths**2)
    np.testing.assert_allclose(frame.groupby("row")["relevance"].sum() / 3, two_rows.relevances.sum(axis=1))
    by_column = frame[frame["row"] == 1].groupby("column")
    assert by_column["value"].first().to_dict() == {
        "area": "1.5",
        "texture": "red",
        "depth": "missing",
        "width": "0",
    }
    assert by_column["neighbor_value"].first()["width"] == "missing"


def test_values_in_context(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign", "benign", "malignant"]])
    row = explanation.row(0)
    assert [row.percentile_text(j) for j in range(4)] == [""] * 4
    assert row.value_in_context(1) == "1"
    row.percentiles = np.array([96.2, np.nan, 100.0, np.nan])
    row.category_shares = np.array([np.nan, 0.342, np.nan, np.nan])
    row.typical = np.array(["16.2 to 27.7", "red 68%", "", ""], dtype=object)
    row.unmeasured = np.array([False, False, False, True])
    assert [row.percentile_text(j) for j in range(4)] == ["96th", "34% of rows", "above all", ""]
    assert [row.value_in_context(j) for j in range(4)] == [
        "0 (96th percentile; benign rows: 16.2 to 27.7)",
        "1 (34% of rows; benign rows: red 68%)",
        "2 (above all)",
        "3 (not measured)",
    ]


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


def test_a_clear_vote_and_a_close_one(two_rows):
    clear, close = two_rows.in_words()
    assert clear == (
        "benign, because it is similar to rows 10, 20 and 30 in area and texture; depth opposes it."
    )
    assert close == (
        "narrowly benign (55% of the votes, malignant 45%), because it is similar to rows 50 and 60 in "
        "texture, but row 40 is malignant; width opposes it."
    )


def test_neighbors_are_named_by_their_ids(made):
    explanation = made(
        [[0.2, 0.5, 0.3]], [["benign"] * 3], [[[0.2, 0, 0, 0], [-0.2, 0, 0, 0]]], ids=["Ann", "Bea", "Cleo"]
    )
    assert explanation.in_words() == ["benign, because it is similar to Bea, Cleo and Ann in area."]


def test_no_single_feature_supports_the_prediction(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[[0.001, 0, 0, -0.001], [-0.001, 0, 0, 0.001]]])
    assert explanation.in_words() == ["benign, because it is similar to rows 10, 20 and 30 overall."]


def test_unknown_supports(made):
    explanation = made([[0.7, 0.298, 0.002]], [["benign", "benign", "malignant"]])
    assert explanation.in_words() == [
        "benign, because it is similar to rows 10 and 20 in area and texture; malignant is next with under "
        "1% of the votes."
    ]


def test_nothing_similar_was_seen(two_rows):
    far, close = replace(two_rows, is_far=np.array([True, True])).in_words()
    assert far == (
        "benign, by the nearest rows 10, 20 and 30, but nothing similar was seen: it is farther from them "
        "than 99% of the training rows are from their neighbors; treat with care."
    )
    assert close == (
        "narrowly benign (55% of the votes, malignant 45%), by the nearest rows 50 and 60 (row 40 is "
        "malignant), but nothing similar was seen: it is farther from them than 99% of the training rows are "
        "from their neighbors; treat with care."
    )


def test_far_rows_name_the_features_outside_the_range(made, two_rows):
    outside = np.array([[True, False, False, True], [False, True, False, False]])
    several, one = replace(two_rows, is_far=np.array([True, True]), outside=outside).in_words()
    assert "nothing similar was seen: area and width are outside the range of the training rows;" in several
    assert "nothing similar was seen: texture is outside the range of the training rows;" in one
    # Values outside the range alone do not make a row far.
    assert (
        replace(two_rows, is_far=np.array([False, False]), outside=outside).in_words() == two_rows.in_words()
    )
    named = made([[0.5, 0.3, 0.2]], [["benign", "benign", "malignant"]], ids=["Ann", "Bea", "Cleo"])
    assert (
        replace(named, is_far=np.array([True]))
        .in_words()[0]
        .startswith("benign, by the nearest rows Ann and Bea, but nothing similar was seen: it is farther")
    )
    assert "malignant is next with 20% of the votes" in replace(named, is_far=np.array([True])).in_words()[0]

"""Explained rows, the overview of many, and their sentences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import Overview, overview


def test_features_are_ordered_by_support(two_rows):
    row = two_rows.row(0)
    assert row.feature_names.tolist() == ["area", "depth", "texture", "width"]
    np.testing.assert_allclose(row.relevances, [0.3, 0.2, 0.1, 0.0])
    np.testing.assert_allclose(row.support, [0.3, -0.2, 0.1, 0.0])
    order = [0, 2, 1, 3]
    np.testing.assert_array_equal(row.values, two_rows.values[0, order])
    np.testing.assert_array_equal(row.supports, two_rows.supports[0][:, order])
    assert row.base_value == pytest.approx(1.0 - 0.2)


def test_prediction_and_votes(two_rows):
    row = two_rows.row(1)
    assert (row.prediction, row.runner_up) == ("benign", "malignant")
    assert row.probability == pytest.approx(0.55)
    assert row.runner_up_probability == pytest.approx(0.45)
    assert row.class_index("malignant") == 1
    assert row.sentence == two_rows.in_words()[1]
    assert row.is_doubtful
    assert row.label_counts == [("benign", 2), ("malignant", 1)]
    assert row.similar_text == "2 of 3 benign, 1 malignant"
    assert row.disagreeing.tolist() == [0]
    assert not two_rows.row(0).is_doubtful
    assert row.neighbors.tolist() == [40, 50, 60]
    assert row.neighbor_labels.tolist() == ["malignant", "benign", "benign"]


def test_reasons_are_above_two_standard_errors(two_rows):
    row = two_rows.row(0)
    assert row.is_reason.tolist() == [True, True, True, False]
    row.support_errors = np.array([0.001, 0.001, 0.06, 0.001])
    del row.__dict__["is_reason"]
    assert row.is_reason.tolist() == [True, True, False, False]
    assert row.reasons(1, 3) == [0]
    assert row.reasons(-1, 3) == [1]
    assert [row.reason_text(j) for j in (0, 1)] == ["area 0 (+30%)", "depth 2 (−20%)"]


def test_tables(two_rows):
    values = np.array([[1.5, "red", np.nan, 0.0]] * 2, dtype=object)
    explanation = replace(two_rows, query_ids=np.array(["p", "q"]), _query_values=values)
    frame = explanation.to_frame()
    assert len(frame) == 2 * 4
    assert list(frame.columns) == [
        "row", "id", "prediction", "probability", "base_value", "column", "value", "support",
        "standard_error", "relevance",
    ]  # fmt: skip
    own = frame[frame["row"] == 1]
    assert own["column"].tolist() == ["width", "texture", "depth", "area"]
    assert own["support"].tolist() == [-0.3, 0.2, 0.005, 0.0]
    assert own["value"].tolist() == ["0", "red", "missing", "1.5"]
    total = own["base_value"].iloc[0] + own["support"].sum()
    assert total == pytest.approx(own["probability"].iloc[0])
    neighbors = explanation.to_frame("neighbors")
    assert neighbors["neighbor_row"].tolist() == [10, 20, 30, 40, 50, 60]
    np.testing.assert_allclose(neighbors.groupby("row")["vote_share"].sum(), 1)
    relevances = explanation.to_frame("relevances")
    assert relevances.index.tolist() == ["p", "q"]
    np.testing.assert_array_equal(relevances, two_rows.relevances)
    assert explanation.to_frame("rows")["reasons"].tolist() == [
        "area 1.5 (+30%), texture red (+10%)", "texture red (+20%)"
    ]  # fmt: skip
    with pytest.raises(ValueError, match="kind must be one of 'reasons', 'neighbors'"):
        explanation.to_frame("all")
    with pytest.raises(ValueError, match="no explained rows"):
        explanation[:0].to_frame()


def test_values_in_context(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign", "benign", "malignant"]])
    row = explanation.row(0)
    assert [row.percentile_text(j) for j in range(4)] == [""] * 4
    assert row.value_in_context(1) == "1"
    context = {
        "_percentiles": np.array([[96.2, np.nan, 100.0, np.nan]]),
        "_category_shares": np.array([[np.nan, 0.342, np.nan, np.nan]]),
    }
    row = replace(explanation[0], _unmeasured=np.array([[False, False, False, True]])).row(0)
    vars(row._explanation).update(context)  # which are computed once
    assert [row.percentile_text(j) for j in range(4)] == ["96th", "34% of rows", "above all", ""]
    assert [row.value_in_context(j) for j in range(4)] == [
        "0 (96th percentile)",
        "1 (34% of rows)",
        "2 (above all)",
        "3 (not measured)",
    ]


def test_bools_and_numbers_that_are_0_or_1_are_yes_and_no():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=80), "flag": rng.integers(0, 2, 80) * 1.0})
    frame["member"] = rng.random(80) < 0.5
    explanation = LANNClassifier(max_iter=0).fit(frame, frame["flag"] > 0).explain(frame[:3])
    row = explanation.row(0)
    values = dict(zip(row.feature_names, row.values, strict=True))
    assert values["flag"] == ("yes" if frame["flag"][0] else "no")
    assert values["member"] == ("yes" if frame["member"][0] else "no")
    assert values["x"] == frame["x"][0]
    assert set(row.neighbor_values[:, list(row.feature_names).index("flag")]) <= {"yes", "no"}
    assert explanation.values[0, 1] == frame["flag"][0]  # unchanged


def test_differences_are_marked():
    X = np.column_stack([np.arange(100.0), np.zeros(100)])
    X[:, 1] = np.arange(100) % 2
    clf = LANNClassifier(5, max_iter=0).fit(X, np.arange(100) > 49)
    row = clf.explain([[50.2, 1.0]]).row(0)
    by_name = dict(zip(row.feature_names, row.is_different.T, strict=True))
    assert not by_name["x0"].any()  # a few ranks away
    np.testing.assert_array_equal(by_name["x1"], X[row.neighbors, 1] != 1)


@pytest.fixture(scope="module")
def explanation(iris):
    X, y = iris
    return LANNClassifier(random_state=0, max_iter=3).fit(X[::2], y[::2]).explain(X[1::2])


def test_a_line_for_each_row(explanation):
    rows = overview(explanation).rows
    assert rows["row"].tolist() == list(range(75))
    assert rows["prediction"].tolist() == explanation.predictions.tolist()
    np.testing.assert_array_equal(rows["probability"], explanation.probabilities.max(axis=1))
    assert rows["runner_up"].tolist() == explanation.runner_up.tolist()
    narrowly = [text.startswith("narrowly") for text in explanation.in_words()]
    assert rows["doubtful"].tolist() == narrowly
    assert any(narrowly)


def test_the_largest_supports_are_named_with_their_values(explanation):
    reasons = overview(explanation, n_features=1).rows["reasons"]
    for i, text in enumerate(reasons):
        row = explanation.row(i)
        best = row.reasons(1, 1)
        assert text == (row.reason_text(best[0]) if best else "")
        if best:  # noise can be larger
            assert row.support[best[0]] == row.support[row.is_reason].max()
    assert (reasons != "").any()
    with pytest.raises(ValueError, match="n_features must be"):
        overview(explanation, n_features=0)


def test_counts(explanation, iris):
    labels = iris[1][1::2].astype(object)
    labels[3] = None
    found = overview(replace(explanation, true_labels=labels))
    wrong = [
        label is not None and label != p for label, p in zip(labels, explanation.predictions, strict=True)
    ]
    assert found.mistakes.tolist() == wrong
    assert found.n_labels == 74
    assert found.accuracy == pytest.approx(1 - sum(wrong) / 74)
    assert found.class_counts == {label: int(np.sum(explanation.predictions == label)) for label in range(3)}
    unlabeled = overview(explanation)
    assert (unlabeled.n_labels, unlabeled.accuracy, unlabeled.mistakes.any()) == (0, None, False)


def test_parts_are_joined(explanation):
    whole, joined = (
        overview(explanation),
        Overview.joined([overview(explanation[:20]), overview(explanation[20:])]),
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
        "benign, with probability 100%. Similar cases: 3 of 3 benign, such as rows 10, 20 and 30. Reasons: "
        "area 0 (+30%) and texture 1 (+10%); against it depth 2 (−20%)."
    )
    assert close == (
        "narrowly benign, with probability 55% (malignant 45%). Similar cases: 2 of 3 benign, 1 malignant, "
        "such as rows 50 and 60; of the nearest 3, row 40 disagrees. Reasons: texture 5 (+20%); against it "
        "width 7 (−30%)."
    )


def test_neighbors_are_named_by_their_ids(made):
    explanation = made(
        [[0.2, 0.5, 0.3]], [["benign"] * 3], [[[0.2, 0, 0, 0], [-0.2, 0, 0, 0]]], ids=["Ann", "Bea", "Cleo"]
    )
    assert explanation.in_words() == [
        "benign, with probability 100%. Similar cases: 3 of 3 benign, such as Ann, Bea and Cleo. Reasons: "
        "area 0 (+20%)."
    ]


def test_no_single_feature_is_a_reason(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[[0.001, 0, 0, -0.001], [-0.001, 0, 0, 0.001]]])
    assert explanation.in_words()[0].endswith("Reasons: no single column.")


def test_other_classes_are_counted(made):
    explanation = made([[0.6, 0.2, 0.2]], [["a", "b", "c"]], classes=("a", "b", "c"))
    assert explanation.row(0).similar_text == "1 of 3 a, 1 b, 1 c"
    assert explanation.in_words()[0].startswith("a, with probability 60% (b 20%).")
    # Nearer rows can decide against most of them.
    explanation = made([[0.6, 0.2, 0.2]], [["a", "b", "b"]], classes=("a", "b", "c"))
    assert explanation.row(0).similar_text == "1 of 3 a, 2 b"


def test_nothing_similar_was_seen(two_rows):
    far, close = replace(two_rows, is_far=np.array([True, True])).in_words()
    why = "Nothing similar was seen: it is farther from its neighbors than 99% of the training rows are; "
    assert far.startswith(
        f"benign, with probability 100%. {why}treat with care. Nearest cases: 3 of 3 benign,"
    )
    assert close.startswith(f"narrowly benign, with probability 55% (malignant 45%). {why}treat with care.")


def test_far_rows_name_the_features_outside_the_range(two_rows):
    outside = np.array([[True, False, False, True], [False, True, False, False]])
    several, one = replace(two_rows, is_far=np.array([True, True]), _outside=outside).in_words()
    assert "Nothing similar was seen: area and width are outside the range of the training rows;" in several
    assert "Nothing similar was seen: texture is outside the range of the training rows;" in one
    # Values outside the range alone do not make a row far.
    near = replace(two_rows, is_far=np.array([False, False]), _outside=outside)
    assert near.in_words() == two_rows.in_words()

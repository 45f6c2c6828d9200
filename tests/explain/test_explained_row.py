"""One explained prediction."""

from dataclasses import replace

import numpy as np
import pytest

from lann import LANNClassifier


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


def test_the_shares_of_the_distance_add_up_to_1(two_rows):
    shares = two_rows.row(0).distance_shares
    assert shares.sum() == pytest.approx(1)
    first = two_rows.contributions[0]
    expected = two_rows.vote_shares[0] @ (first / first.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(shares, expected[[0, 2, 1, 3]])


def test_rows_are_those_of_row(two_rows):
    rows = list(two_rows.rows())
    assert [row.row for row in rows] == [0, 1]
    for i, row in enumerate(rows):
        assert two_rows.row(i).to_frame().equals(row.to_frame())
    assert two_rows.row(-1).row == 1
    with pytest.raises(IndexError, match="2 queries"):
        two_rows.row(2)


def test_row_numbers_and_names(two_rows):
    named = replace(two_rows, query_rows=np.array([7, 3]), query_ids=np.array(["p7", "p3"]))
    assert [(row.row, row.id) for row in named.rows()] == [(7, "p7"), (3, "p3")]
    assert named[1].row(0).row == named.row(1).row == 3
    assert two_rows.row(1).id is None


def test_supports_that_are_unknown_are_none(made):
    row = made([[0.5, 0.3, 0.2]], [["benign"] * 3]).row(0)
    assert row.support is None
    assert row.separation is None
    assert not {"support", "separation", "neighbor_value"} & set(row.to_frame())


def test_whether_a_feature_is_relevant(made):
    def row(support):
        return made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[support, np.negative(support)]]).row(0)

    assert not row([0.009, 0.001, 0, 0]).has_relevant_feature
    assert row([0.01, 0, 0, 0]).has_relevant_feature


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
    row = replace(
        row,
        percentiles=np.array([96.2, np.nan, 100.0, np.nan]),
        category_shares=np.array([np.nan, 0.342, np.nan, np.nan]),
        typical=np.array(["16.2 to 27.7", "red 68%", "", ""], dtype=object),
        unmeasured=np.array([False, False, False, True]),
    )
    assert [row.percentile_text(j) for j in range(4)] == ["96th", "34% of rows", "above all", ""]
    assert [row.value_in_context(j) for j in range(4)] == [
        "0 (96th percentile; benign rows: 16.2 to 27.7)",
        "1 (34% of rows; benign rows: red 68%)",
        "2 (above all)",
        "3 (not measured)",
    ]


def test_context_is_in_the_order_of_the_features(wine):
    X, y = wine
    explanation = LANNClassifier(max_iter=2, random_state=0).fit(X[::2], y[::2]).explain(X[:4])
    for i, row in enumerate(explanation.rows()):
        order = [explanation.feature_names.tolist().index(name) for name in row.feature_names]
        np.testing.assert_array_equal(row.percentiles, explanation.percentiles[i, order])
        assert row.typical.tolist() == explanation.typical_texts(row.prediction)[order].tolist()
        assert row.typical_of_runner_up.tolist() == explanation.typical_texts(row.runner_up)[order].tolist()
        assert row.left_out == (i // 2 if i % 2 == 0 else None)
        np.testing.assert_array_equal(row.outside, explanation.outside[i, order])
    frame = explanation.to_long_frame()
    assert frame["left_out"].isna().mean() == 0.5
    assert frame["percentile"].between(0, 100).all()
    assert frame["typical"].str.contains(" to ").all()


def test_no_rows_have_no_table(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign", "benign", "malignant"]])
    with pytest.raises(ValueError, match="no explained rows"):
        explanation[:0].to_long_frame()

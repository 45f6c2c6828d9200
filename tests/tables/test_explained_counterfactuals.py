"""Counterfactuals of explained rows."""

import numpy as np
import pytest

from lann import LANNClassifier
from lann.explain import group_features
from lann.tables import TableModel


def test_they_are_those_of_the_table(table_model, make_table):
    new = make_table(12, seed=3)
    explanation = table_model.explain(new, [2, 3, 5, 7], id="name")
    found = table_model.counterfactuals_of_explanation(explanation, constraints={"frozen": ["noise"]})
    expected = table_model.counterfactuals(new, [2, 3, 5, 7], id="name", constraints={"frozen": ["noise"]})
    assert found.found.any()
    for name in ("labels", "found", "query_rows", "query_ids"):
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name))
    np.testing.assert_array_equal(found.rows, expected.rows)
    assert found.to_frame().astype(str).equals(expected.to_frame().astype(str))


def test_columns_of_all_kinds(passengers, odd_queries):
    _, _, clf = passengers
    model = TableModel(clf)
    explanation = clf.explain(odd_queries)
    found = model.counterfactuals_of_explanation(explanation)
    assert len(found) == len(odd_queries)
    assert found.found.any()
    np.testing.assert_array_equal(found.predictions, explanation.predictions)
    changed = found.changed[found.found]
    assert ((changed.sum(axis=1) >= 1) & (changed.sum(axis=1) <= 3)).all()
    assert (found.labels[found.found] != found.predictions[found.found]).all()


def test_arrays_and_groups(iris):
    X, y = iris
    clf = LANNClassifier(max_iter=0).fit(X[::2], y[::2])
    explanation = clf.explain(X[1:4:2])
    assert TableModel(clf).counterfactuals_of_explanation(explanation).found.all()
    grouped = group_features(explanation, ["a", "a", "b", "c"])
    with pytest.raises(ValueError, match="are groups"):
        TableModel(clf).counterfactuals_of_explanation(grouped)

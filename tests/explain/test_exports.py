"""Explanations as dictionaries, as objects of shap, and summarized."""

import json
import warnings

import matplotlib as mpl
import numpy as np
import pytest
import shap

from lann import LANNClassifier
from lann.explain import summarize, to_shap


def test_all_of_a_row(two_rows):
    row = two_rows.to_dict()[1]
    assert row["prediction"] == "benign"
    assert row["runner_up"] == "malignant"
    assert row["probabilities"] == pytest.approx({"benign": 0.55, "malignant": 0.45})
    assert row["similar"] == {"benign": 2, "malignant": 1}
    assert row["base_value"] == pytest.approx(0.55 + 0.095)
    assert [reason["column"] for reason in row["reasons"]] == ["width", "texture", "depth", "area"]
    assert row["reasons"][0] == {
        "column": "width", "value": 7.0, "support": -0.3, "standard_error": 0.001, "told": True
    }  # fmt: skip
    assert not row["reasons"][2]["told"]
    assert row["relevances"] == pytest.approx({"area": 0.0, "texture": 0.2, "depth": 0.005, "width": 0.3})
    assert [neighbor["row"] for neighbor in row["neighbors"]] == [40, 50, 60]
    nearest = row["neighbors"][0]
    assert nearest["label"] == "malignant"
    assert nearest["vote_share"] == 0.45
    assert "id" not in nearest


def test_it_survives_json(wine):
    X, y = wine
    clf = LANNClassifier(random_state=0, max_iter=2).fit(X, y)
    days = np.datetime64("2020-01-01") + np.arange(len(X))
    explanation = clf.explain(X[:4], ids=days)
    rows = explanation.to_dict()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[2]["neighbors"][0]["id"] == str(explanation.neighbor_ids[2, 0])
    assert rows[2]["prediction"] == explanation.predictions[2]


def test_what_is_not_finite_or_unknown_is_none(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], distances=np.array([[1.0, np.inf, np.nan]]))
    row = explanation.to_dict()[0]
    assert [neighbor["distance"] for neighbor in row["neighbors"]] == [1.0, None, None]


mpl.use("Agg")


@pytest.fixture(scope="module")
def explanation(wine):
    X, y = wine
    return LANNClassifier(random_state=0, max_iter=4).fit(X[::2], y[::2]).explain(X[1::2])


def test_values_and_base_add_up_to_the_probability(explanation):
    found = to_shap(explanation)
    assert isinstance(found, shap.Explanation)
    every = np.arange(len(explanation))
    np.testing.assert_array_equal(found.values, explanation.supports[every, explanation.predictions])
    np.testing.assert_allclose(
        found.base_values + found.values.sum(axis=1), explanation.probabilities.max(axis=1)
    )
    np.testing.assert_array_equal(found.data, explanation.values)
    assert found.feature_names == [f"x{number}" for number in range(13)]


def test_any_class(explanation):
    found = to_shap(explanation, label=2)
    np.testing.assert_array_equal(found.values, explanation.supports[:, 2])
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), explanation.probabilities[:, 2])
    with pytest.raises(ValueError, match=r"label must be one of the classes \[0, 1, 2\]; got 'red'"):
        to_shap(explanation, label="red")


@pytest.fixture(scope="module")
def summarized(wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    return LANNClassifier(random_state=0, max_iter=4).fit(X, names).explain(X)


@pytest.mark.parametrize("values", ["relevances", "support"])
def test_by_class_equals_the_loop(summarized, values):
    frame = summarize(summarized, "class", quantiles=(0.1, 0.5), values=values)
    assert frame.columns.tolist() == ["group", "feature", "mean", "q10", "q50", "n"]
    assert len(frame) == 3 * 13
    for label in "abc":
        rows = summarized.relevances if values == "relevances" else summarized.supports[:, "abc".index(label)]
        rows = rows[summarized.predictions == label]
        for feature, name in enumerate(summarized.feature_names):
            line = frame[(frame["group"] == label) & (frame["feature"] == name)].iloc[0]
            assert line["mean"] == pytest.approx(rows[:, feature].mean())
            assert line["q10"] == pytest.approx(np.quantile(rows[:, feature], 0.1))
            assert line["q50"] == pytest.approx(np.median(rows[:, feature]))
            assert line["n"] == len(rows)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda e: summarize(e, [1, 2]),
            r"by must be None, 'class', a number of clusters, or 178 labels, .* shape \(2,\)",
        ),
        (lambda e: summarize(e, 0), "n_clusters must be an integer of at least 1 and at most 178; got 0"),
        (lambda e: summarize(e, [None] * 178), "no rows to summarize"),
        (lambda e: summarize(e[:0], "class"), "no rows to summarize"),
        (
            lambda e: summarize(e, quantiles=[1.5]),
            "quantiles must be a number of at least 0 and at most 1; got 1.5",
        ),
        (lambda e: summarize(e, "label"), "by must be one of None, 'class'; got 'label'"),
        (
            lambda e: summarize(e, values="distances"),
            "values must be one of 'relevances', .*; got 'distances'",
        ),
        (
            lambda e: summarize(e, correlated="no"),
            "correlated must be one of 'warn', 'group', 'ignore'; got 'no'",
        ),
    ],
)
def test_invalid_arguments_raise(summarized, call, message):
    with pytest.raises(ValueError, match=message):
        call(summarized)


def test_correlated_features_are_named_or_added_up(two_rows, made):
    summarized = made(
        two_rows.vote_shares, two_rows.neighbor_labels, two_rows.supports, _correlated=((0, 2),)
    )
    for by in (None, "class", [1, 2]):
        with pytest.warns(
            UserWarning, match=r"divided between them arbitrarily: \(area \+ depth\);"
        ) as found:
            summarize(summarized, by)
        assert len(found) == 1
        assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        summarize(summarized, correlated="ignore")
        summarize(two_rows)
        frame = summarize(summarized, correlated="group")
    assert frame["feature"].tolist() == ["area + depth", "texture", "width"]
    np.testing.assert_allclose(frame["mean"], [(0.3 + 0.2 + 0.0 + 0.005) / 2, 0.15, 0.15])

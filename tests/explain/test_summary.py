"""Summaries of relevances equal plain loops, and treat correlated features as they are told to."""

import warnings

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier
from lann.explain import relevance_clusters, summarize


@pytest.fixture(scope="module")
def explanation(wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    return LANNClassifier(random_state=0, max_iter=4).fit(X, names).explain(X)


@pytest.mark.parametrize("values", ["relevances", "feature_weights", "support"])
def test_by_class_equals_the_loop(explanation, values):
    frame = explanation.summarize("class", quantiles=(0.1, 0.5), values=values)
    assert frame.columns.tolist() == ["group", "feature", "mean", "q10", "q50", "n"]
    assert len(frame) == 3 * 13
    for label in "abc":
        rows = getattr(explanation, values)[explanation.predictions == label]
        for feature, name in enumerate(explanation.feature_names):
            line = frame[(frame["group"] == label) & (frame["feature"] == name)].iloc[0]
            assert line["mean"] == pytest.approx(rows[:, feature].mean())
            assert line["q10"] == pytest.approx(np.quantile(rows[:, feature], 0.1))
            assert line["q50"] == pytest.approx(np.median(rows[:, feature]))
            assert line["n"] == len(rows)


def test_over_all_rows(explanation):
    frame = explanation.summarize()
    assert frame["group"].unique().tolist() == ["all"]
    assert frame["feature"].tolist() == explanation.feature_names.tolist()
    np.testing.assert_allclose(frame["mean"], explanation.relevances.mean(axis=0))
    assert (frame["n"] == 178).all()


def test_any_groups_and_rows_in_none(explanation):
    groups = pd.Series(["x"] * 100 + ["y"] * 70 + [None] * 8)
    frame = explanation.summarize(groups)
    assert frame.groupby("group")["n"].first().to_dict() == {"x": 100, "y": 70}
    np.testing.assert_allclose(
        frame["mean"], np.r_[explanation.relevances[:100].mean(0), explanation.relevances[100:170].mean(0)]
    )
    assert summarize(explanation, [True] * 178)["group"].unique().tolist() == [True]


def test_clusters_have_their_own_relevances(made):
    relevances = np.tile(np.eye(4)[:2], (30, 1)) + 0.01 * np.random.default_rng(0).random((60, 4))
    relevances = np.concatenate([relevances, relevances[::2]])  # the first kind is the more frequent one
    explanation = made([[0.5, 0.3, 0.2]] * 90, [["benign"] * 3] * 90, relevances=relevances)
    clusters = relevance_clusters(explanation, 2)
    np.testing.assert_array_equal(clusters, relevances.argmax(axis=1))
    frame = explanation.summarize(2)
    assert frame["n"].tolist() == [60] * 4 + [30] * 4
    assert frame.loc[frame.groupby("group")["mean"].idxmax(), "feature"].tolist() == ["area", "texture"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda e: e.summarize([1, 2]),
            r"by must be None, 'class', a number of clusters, or 178 labels, .* shape \(2,\)",
        ),
        (lambda e: e.summarize(0), "n_clusters must be an integer of at least 1 and at most 178; got 0"),
        (lambda e: e.summarize([None] * 178), "no rows to summarize"),
        (lambda e: e[:0].summarize("class"), "no rows to summarize"),
        (
            lambda e: e.summarize(quantiles=[1.5]),
            "quantiles must be a number of at least 0 and at most 1; got 1.5",
        ),
        (lambda e: e.summarize("label"), "by must be one of None, 'class'; got 'label'"),
        (
            lambda e: e.summarize(values="distances"),
            "values must be one of 'relevances', .*; got 'distances'",
        ),
        (
            lambda e: e.summarize(correlated="no"),
            "correlated must be one of 'warn', 'group', 'ignore'; got 'no'",
        ),
    ],
)
def test_invalid_arguments_raise(explanation, call, message):
    with pytest.raises(ValueError, match=message):
        call(explanation)


def test_correlated_features_are_named_or_added_up(two_rows, made):
    explanation = made(
        two_rows.vote_shares,
        two_rows.neighbor_labels,
        two_rows.supports,
        _correlated=((0, 2),),
    )
    for by in (None, "class", [1, 2]):
        with pytest.warns(
            UserWarning, match=r"divided between them arbitrarily: \(area \+ depth\);"
        ) as found:
            explanation.summarize(by)
        assert len(found) == 1
        assert found[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        explanation.summarize(correlated="ignore")
        two_rows.summarize()
        frame = explanation.summarize(correlated="group")
    assert frame["feature"].tolist() == ["area + depth", "texture", "width"]
    np.testing.assert_allclose(frame["mean"], [(0.3 + 0.2 + 0.0 + 0.005) / 2, 0.15, 0.15])

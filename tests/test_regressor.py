"""LANNRegressor: what it predicts, and what does not change it."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_friedman1
from sklearn.neighbors import KNeighborsRegressor

from lann import LANNRegressor, load, save
from lann.explain import counterfactuals, prepare_explanations, prototypical_rows, suspicious_rows
from lann.model._value_model import RIDGE, slope_offsets
from lann.plot import ExplanationDisplay, FeatureCurvesDisplay
from lann.regressor import group_values
from lann.vote import ValueRule, read_values


def regressor(**parameters):
    return LANNRegressor(**{"max_iter": 4, "random_state": 0} | parameters)


@pytest.fixture(scope="module")
def friedman():
    return make_friedman1(600, 8, noise=1.0, random_state=1)


@pytest.fixture(scope="module")
def fitted(friedman):
    X, y = friedman
    return LANNRegressor(random_state=0).fit(X[:400], y[:400])


def test_it_learns_which_features_matter(friedman, fitted):
    X, y = friedman
    plain = KNeighborsRegressor(7, weights="distance").fit(X[:400], y[:400]).score(X[400:], y[400:])
    assert fitted.score(X[400:], y[400:]) > max(plain + 0.1, 0.85)
    relevances = fitted.explain(X[400:]).relevances.mean(axis=0)
    assert relevances[:5].min() > relevances[5:].max()


def test_intervals_cover_their_share_and_widen_with_it(friedman, fitted):
    X, y = friedman
    half, most = (fitted.predict_interval(X[400:], coverage) for coverage in (0.5, 0.9))
    shares = [np.mean((low <= y[400:]) & (y[400:] <= high)) for low, high in (half.T, most.T)]
    assert shares == pytest.approx([0.5, 0.9], abs=0.1)
    assert (most[:, 0] < half[:, 0]).all()
    assert (half[:, 1] < most[:, 1]).all()


def test_quantiles_ascend_and_deviations_are_theirs(friedman, fitted):
    X, _ = friedman
    quantiles = fitted.predict_quantiles(X[400:], np.arange(1, 200) / 200)
    assert (np.diff(quantiles, axis=1) >= 0).all()
    predictions, deviations = fitted.predict(X[400:], return_std=True)
    np.testing.assert_array_equal(predictions, fitted.predict(X[400:]))
    assert deviations / quantiles.std(axis=1) == pytest.approx(1.0, abs=0.3)
    with pytest.raises(ValueError, match="from 0 to 1"):
        fitted.predict_quantiles(X[:1], 1.5)


@pytest.mark.parametrize("metric", ["diagonal", "low_rank"])
def test_a_row_of_weight_2_is_the_row_twice(friedman, metric):
    X, y = friedman[0][:200], friedman[1][:200]
    weights = np.where(np.arange(200) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(200), weights.astype(int))
    weighted = regressor(metric=metric, n_candidates=None).fit(X, y, sample_weight=weights)
    repeated = regressor(metric=metric, n_candidates=None).fit(X[twice], y[twice])
    queries = friedman[0][200:260]
    np.testing.assert_allclose(weighted.predict(queries), repeated.predict(queries), rtol=1e-9)
    intervals = [model.predict_interval(queries) for model in (weighted, repeated)]
    np.testing.assert_allclose(*intervals, rtol=1e-9)


def test_the_unit_of_the_target_does_not_matter(friedman):
    X, y = friedman[0][:300], friedman[1][:300]
    queries, plain = friedman[0][300:], regressor().fit(X, y)
    doubled = regressor().fit(X, 2.0**20 * y)
    np.testing.assert_array_equal(doubled.predict(queries), 2.0**20 * plain.predict(queries))
    shifted = regressor().fit(X, 1e-3 * y + 5.0)
    expected = 1e-3 * plain.predict_interval(queries) + 5.0
    np.testing.assert_allclose(shifted.predict_interval(queries), expected, rtol=1e-6)


def test_nothing_learned_is_plain_knn(friedman):
    X, y = friedman[0][:300], friedman[1][:300]
    plain = KNeighborsRegressor(5).fit(X, y)
    found = regressor(n_neighbors=5, power=0.0, slopes=0.0, max_iter=0, levels=("point",)).fit(X, y)
    np.testing.assert_allclose(found.predict(X[:50] + 0.01), plain.predict(X[:50] + 0.01), rtol=1e-12)
    np.testing.assert_allclose(found.kneighbors(X[:9])[0], plain.kneighbors(X[:9])[0], atol=1e-6)


def test_slopes_equal_a_plain_ridge_regression():
    rng = np.random.default_rng(0)
    for n_axes in (3, 12):
        points, query, values = rng.normal(size=(8, n_axes)), rng.normal(size=n_axes), rng.normal(size=8)
        weights = rng.dirichlet(np.ones(8))
        centered = points - weights @ points
        products = centered.T @ (weights[:, None] * centered)
        ridge = RIDGE * np.trace(products) / n_axes
        rest = weights * (values - weights @ values)
        slopes = np.linalg.solve(products + ridge * np.eye(n_axes), centered.T @ rest)
        found = slope_offsets((query - points)[None], values[None], weights[None])
        np.testing.assert_allclose(found[0], (query - points) @ slopes, rtol=1e-9)


def test_a_linear_target_is_extrapolated_by_slopes():
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(400, 3))
    y = X @ [3.0, -2.0, 1.0]
    with_slopes, without = (regressor(slopes=s).fit(X[:200], y[:200]) for s in ("auto", 0.0))
    errors = [np.abs(model.predict(X[200:]) - y[200:]).mean() for model in (with_slopes, without)]
    assert with_slopes.value_rule_.slope_share > 0.8
    assert errors[0] < 0.5 * errors[1]


def test_predictions_stay_within_the_values_of_the_neighbors():
    values, shares = np.array([[1.0, 2.0, 3.0]]), np.array([[0.2, 0.5, 0.3]])
    reading = read_values(values, np.full((1, 3), 9.0), shares, 1.0)
    assert reading.predictions.tolist() == [pytest.approx(3.0)]
    assert (reading.shares * reading.adjusted).sum() == pytest.approx(3.0)


def test_the_distribution_is_that_of_held_out_errors():
    rng = np.random.default_rng(0)
    spreads = rng.uniform(0.5, 3.0, 4000)
    rule = ValueRule.of(spreads * rng.normal(size=4000), spreads, np.ones(4000), 0.0)
    assert rule.exponent >= 0.75
    found = rule.quantiles(np.zeros(2), np.array([1.0, 2.0]), np.array([0.1, 0.9]))
    np.testing.assert_allclose(found, [[-1.28, 1.28], [-2.56, 2.56]], rtol=0.15)
    np.testing.assert_allclose(
        rule.in_units(10.0).quantiles(np.zeros(2), np.array([10.0, 20.0]), np.array([0.1, 0.9])), 10 * found
    )


@pytest.mark.parametrize("y", [np.zeros(40), np.arange(40) % 2, np.repeat([1e9, 1e9 + 1], 20)])
def test_few_or_equal_values(y):
    X = np.random.default_rng(0).normal(size=(40, 3))
    found = regressor().fit(X, y)
    assert y.min() <= found.predict(X).min() <= found.predict(X).max() <= y.max()
    assert np.isfinite(found.predict_interval(X)).all()


def test_few_rows():
    X, y = np.arange(5.0)[:, None], np.arange(5.0)
    found = regressor().fit(X, y)
    assert np.isfinite(found.predict_interval(X)).all()
    assert found.explain(X).supports.shape == (5, 1, 1)
    with pytest.raises(ValueError, match="at least two training rows"):
        regressor().fit(X[:1], y[:1])


def test_tables_gaps_and_rows_to_forget():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.uniform(20, 200, 120), "place": rng.choice(["city", "village"], 120)})
    y = table["size"] * np.where(table["place"] == "city", 3.0, 1.0)
    table.loc[::9, "size"] = np.nan
    table.index = [f"home {i}" for i in range(120)]
    found = regressor().fit(table, y)
    explanation = found.explain(table.iloc[:3])
    assert explanation.neighbor_ids[0, 0].startswith("home")
    assert "place" in explanation.in_words()[1]
    found.forget(["home 5"])
    assert len(found.ids_) == found.model_.n_rows == len(found.model_.values) == 119


def test_what_needs_labels_says_so(friedman, fitted):
    queries = friedman[0][400:402]
    explanation = fitted.explain(queries)
    assert repr(explanation).startswith("<Explanation of 2 predictions by ")
    for function in (counterfactuals, suspicious_rows, prototypical_rows):
        with pytest.raises(ValueError, match="predicts numbers; this needs a classifier"):
            function(fitted, *([queries] if function is counterfactuals else []))
    with pytest.raises(AttributeError, match="predicts numbers; this needs a classifier"):
        FeatureCurvesDisplay.from_estimator(fitted, queries)
    with pytest.raises(ValueError, match="Figures show labels"):
        ExplanationDisplay.from_explanation(explanation)


def test_groups_have_about_the_same_weight():
    labels = group_values(np.random.default_rng(0).normal(size=60), None)
    assert np.bincount(labels).tolist() == [10] * 6
    assert group_values(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 5.0])).tolist() == [0, 0, 1]


@pytest.mark.parametrize("y", [["a", "b"] * 10, [1e70] * 20, [np.nan] * 20])
def test_targets_that_are_no_numbers(y):
    with pytest.raises(ValueError, match=r"y must be|NaN|could not convert"):
        regressor().fit(pd.DataFrame({"a": np.arange(20.0), "b": ["u", "v"] * 10}), y)


def test_a_saved_model_predicts_the_same(tmp_path, friedman, fitted):
    prepare_explanations(fitted)
    save(fitted, tmp_path / "model.lann")
    again = load(tmp_path / "model.lann")
    queries = friedman[0][400:]
    np.testing.assert_array_equal(again.predict_interval(queries), fitted.predict_interval(queries))
    assert again.explain(queries[:3]).in_words() == fitted.explain(queries[:3]).in_words()
    assert again.vote_.to_frame().equals(fitted.vote_.to_frame())
    save(again, tmp_path / "again.lann")
    assert (tmp_path / "again.lann").read_bytes() == (tmp_path / "model.lann").read_bytes()

import numpy as np
import pandas as pd
import pytest
from scipy.spatial.distance import cdist

from lann.reject import NoveltyScale, PlainRows
from lann.reject._row_evidence import Reading, compute_certainties, novelty_threshold


@pytest.fixture
def X():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3)) * [1, 10, 0.1]
    X[:, 2] += 0.01 * X[:, 1]
    return X


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {"size": rng.normal(size=80), "color": rng.choice(["red", "blue"], 80), "old": rng.random(80) < 0.3}
    )
    table.loc[::5, "size"] = np.nan
    return table


def slow_relative_distance(plain, query):
    """Return the relative distance of one query, by the definition."""
    distances = np.sqrt(((plain.rows - query) ** 2).sum(axis=1))
    between = cdist(plain.rows, plain.rows)
    np.fill_diagonal(between, np.inf)
    spacing = between.min(axis=1)
    least = 0.1 * spacing.mean()
    around = np.argsort(distances)[:10]
    return (distances.min() + least) / (spacing[around].mean() + least)


def test_distances_are_those_of_the_definition(X):
    labels = np.arange(120) % 2
    plain = PlainRows.fit(X, labels)
    queries = X[:7] * 1.1 + 0.05
    measured = plain.measure(queries, np.zeros(7, int))
    axes = plain.transform(queries)
    np.testing.assert_allclose(measured.nearest, [slow_relative_distance(plain, q) for q in axes], rtol=1e-6)
    distances = cdist(axes, plain.rows)
    np.testing.assert_allclose(measured.own, distances[:, labels == 0].min(axis=1), rtol=1e-6)
    np.testing.assert_allclose(measured.other, distances[:, labels == 1].min(axis=1), rtol=1e-6)


def test_axes_are_decorrelated_as_far_as_rows_allow(X):
    plain = PlainRows.fit(X, np.zeros(120, int))
    share = 3 / 123
    z = (X - X.mean(axis=0)) / X.std(axis=0)
    covariance = (1 - share) * np.cov(z, rowvar=False, bias=True) + share * np.eye(3)
    np.testing.assert_allclose(plain.whitening.T @ covariance @ plain.whitening, np.eye(3), atol=1e-9)


def test_units_do_not_matter(X):
    queries = X[:9] + 0.1
    plain, other = (PlainRows.fit(rows, np.zeros(120, int)) for rows in (X, X * [1e3, 1e-3, 7] + 5))
    np.testing.assert_allclose(
        plain.measure(queries).nearest, other.measure(queries * [1e3, 1e-3, 7] + 5).nearest, rtol=1e-5
    )
    np.testing.assert_allclose(plain.outside(queries), other.outside(queries * [1e3, 1e-3, 7] + 5), atol=1e-9)


def test_outside_counts_standard_deviations(X):
    plain = PlainRows.fit(X, np.zeros(120, int))
    queries = np.repeat(X[:1], 3, axis=0)
    queries[1, 1] = X[:, 1].max() + 2 * X[:, 1].std()
    queries[2, 0] = X[:, 0].min() - 0.5 * X[:, 0].std()
    np.testing.assert_allclose(plain.outside(queries), [0, 2, 0.5])
    np.testing.assert_array_equal(plain.outside(X), 0)


def test_tables_with_categories_and_gaps(table):
    plain = PlainRows.fit(table, np.zeros(80, int))
    assert np.isfinite(plain.rows).all()
    np.testing.assert_array_equal(plain.outside(plain.read(table)), 0)
    queries = plain.read(
        pd.DataFrame(
            {"size": [0.0, np.nan, 0.0, 0.0], "color": ["red", "red", "green", None], "old": [True] * 4}
        )
    )
    np.testing.assert_array_equal(plain.outside(queries), [0, 0, 1, 1])
    assert np.isfinite(plain.measure(queries).nearest).all()


PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.1, 0.2, 0.7]])


def test_separation_orders_equal_probabilities_only():
    reading = Reading(PROBABILITIES, np.array([-0.5, 1.0, 0.5]), None)
    certainties = compute_certainties(reading, np.zeros(3), "combined")
    assert certainties.argsort().tolist() == [1, 0, 2]
    assert ((certainties > 0) & (certainties < 1)).all()


def test_novelty_is_the_distance_relative_to_the_median_of_held_out_rows():
    rng = np.random.default_rng(0)
    distances = rng.normal(size=200)
    parts = np.column_stack([distances, 3 * rng.normal(size=200) - 8, np.full(200, -np.inf)])
    scale = NoveltyScale.fit(parts)
    alone = parts.copy()
    alone[:, 1] = -1e3
    np.testing.assert_allclose(scale.novelties(alone), np.exp(distances - np.median(distances)))
    assert (scale.novelties(parts) >= scale.novelties(alone)).all()


def test_new_rows_are_above_the_threshold_with_the_probability_of_the_share():
    rng = np.random.default_rng(0)
    shares = [
        (rng.exponential(size=500) > novelty_threshold(rng.exponential(size=100), 0.05)).mean()
        for _ in range(300)
    ]
    assert 0.045 < np.mean(shares) < 0.054

import numpy as np
import pytest

from lann.reject._certainty import NoveltyScale, compute_certainties, novelty_threshold
from lann.reject._reading import Reading

PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.1, 0.2, 0.7]])


def test_probability_margin_and_novelty():
    reading, novelties = Reading(PROBABILITIES, None, None), np.array([1.0, 4.0, 2.0])
    np.testing.assert_allclose(compute_certainties(reading, novelties, "probability"), [0.7, 0.4, 0.7])
    np.testing.assert_allclose(compute_certainties(reading, novelties, "margin"), [0.5, 0.05, 0.5])
    np.testing.assert_array_equal(compute_certainties(reading, novelties, "novelty"), -novelties)


def test_separation_orders_equal_probabilities_only():
    reading = Reading(PROBABILITIES, np.array([-0.5, 1.0, 0.5]), None)
    certainties = compute_certainties(reading, np.zeros(3), "combined")
    assert certainties.argsort().tolist() == [1, 0, 2]
    assert ((certainties > 0) & (certainties < 1)).all()


def test_bits_of_probabilities_do_not_order_rows():
    probabilities = np.array([[0.7 + 1e-15, 0.3 - 1e-15], [0.7, 0.3]])
    reading = Reading(probabilities, np.array([0.1, 0.2]), None)
    first, second = compute_certainties(reading, np.zeros(2), "combined")
    assert first < second


def test_novelty_is_the_distance_relative_to_the_median_of_held_out_rows():
    rng = np.random.default_rng(0)
    distances = rng.normal(size=200)
    parts = np.column_stack([distances, 3 * rng.normal(size=200) - 8, np.full(200, -np.inf)])
    scale = NoveltyScale.fit(parts)
    alone = parts.copy()
    alone[:, 1] = -1e3
    np.testing.assert_allclose(scale.novelties(alone), np.exp(distances - np.median(distances)))
    assert (scale.novelties(parts) >= scale.novelties(alone)).all()


def test_the_second_part_counts_on_the_scale_of_the_first():
    parts = np.column_stack([np.linspace(0, 1, 101), np.linspace(5, 9, 101), np.full(101, -np.inf)])
    scale = NoveltyScale.fit(parts)
    first = scale.novelties(np.array([[0.95, -1e3, -np.inf]]))
    second = scale.novelties(np.array([[-1e3, 5 + 4 * 0.95, -np.inf]]))
    np.testing.assert_allclose(first, second)


def test_distances_that_overflow_are_the_most_novel():
    parts = np.column_stack([np.linspace(0, 1, 50), np.linspace(0, 1, 50), np.full(50, -np.inf)])
    scale = NoveltyScale.fit(parts)
    novelties = scale.novelties(np.array([[np.inf, 0, 0], [np.nan, 0, 0], [0.5, 0.5, np.inf]]))
    assert np.isfinite(novelties).all()
    assert (novelties > 1e40).all()


@pytest.mark.parametrize(("share", "n_above"), [(0.05, 10), (0.01, 2), (0.5, 100)])
def test_the_threshold_leaves_at_most_the_share(share, n_above):
    novelties = np.random.default_rng(0).permutation(np.arange(200.0))
    assert n_above - 1 <= (novelties > novelty_threshold(novelties, share)).sum() <= n_above


def test_with_few_rows_the_largest_novelty_is_the_threshold():
    assert novelty_threshold(np.arange(10.0), 0.05) == 9
    assert novelty_threshold(np.arange(10.0), 0) == np.inf


def test_new_rows_are_above_the_threshold_with_the_probability_of_the_share():
    rng = np.random.default_rng(0)
    shares = [
        (rng.exponential(size=500) > novelty_threshold(rng.exponential(size=100), 0.05)).mean()
        for _ in range(300)
    ]
    assert 0.045 < np.mean(shares) < 0.054

from dataclasses import replace

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import Encoding, FeatureCurves

NAN = np.nan
# Columns: a number with gaps, a category, a number, a category with gaps.
X = np.array(
    [
        [1.0, 0, 5.0, 0], [2.0, 2, 6.0, 1], [NAN, 1, 7.0, NAN], [4.0, 0, 8.0, 1], [NAN, 2, 5.5, 0],
        [0.5, 1, 6.5, 1],
    ]
)  # fmt: skip
N_CATEGORIES = (0, 3, 0, 2)


def make_learned():
    """An encoding whose curves, positions and gaps are learned."""
    encoding = Encoding.plain(X, N_CATEGORIES)
    rng = np.random.default_rng(0)
    curves = FeatureCurves.straight(encoding.numbers_of(X), 3)
    curves = curves.with_slopes(np.exp(rng.normal(size=curves.slopes.shape)))
    positions = tuple(p.with_positions(rng.normal(size=p.positions.shape)) for p in encoding.positions)
    gaps = replace(encoding.gaps, heights=np.array([1.3, 0.0]))
    return encoding.replace(curves=curves, positions=positions, gaps=gaps)


LEARNED = make_learned()


def test_with_nothing_learned_numbers_are_unchanged_and_gaps_are_at_their_expected_values():
    encoding = Encoding.plain(X, N_CATEGORIES)
    encoded = encoding.transform(X)
    expected, deviation = encoding.gaps.filled(X[:, [0, 2]])[:, 0], np.nanstd(X[:, 0])
    np.testing.assert_allclose(encoded[:, 0], np.where(np.isnan(X[:, 0]), expected, X[:, 0]))
    np.testing.assert_allclose(encoded[:, 1], np.where(np.isnan(X[:, 0]), 0.5 * deviation, 0.0))
    np.testing.assert_array_equal(encoded[:, 5], X[:, 2])


def test_categories_have_the_overlap_distance_with_nothing_learned():
    encoded = Encoding.plain(X, N_CATEGORIES).transform(X)[:, 2:5]
    squares = np.square(encoded[:, None] - encoded).sum(axis=2)
    differs = X[:, 1][:, None] != X[:, 1]
    np.testing.assert_allclose(squares, differs * squares.max(), atol=1e-12)


def test_numbers_without_gaps_are_the_curves():
    numbers = np.random.default_rng(0).normal(size=(20, 3))
    encoding = Encoding.plain(numbers, (0, 0, 0))
    assert encoding.is_numeric
    assert encoding.curves.is_identity
    assert encoding.transform(numbers) is numbers
    curves = FeatureCurves.straight(numbers, 4)
    np.testing.assert_array_equal(
        encoding.replace(curves=curves).transform(numbers), curves.transform(numbers)
    )
    assert encoding.sum_by_feature(numbers) is numbers


row = st.tuples(
    st.one_of(st.floats(-1e6, 1e6), st.just(NAN)),
    st.sampled_from([-1.0, 0.0, 1.0, 2.0, NAN]),
    st.one_of(st.floats(-1e6, 1e6), st.just(NAN)),
    st.sampled_from([-1.0, 0.0, 1.0, NAN]),
)


@given(st.lists(row, min_size=1, max_size=12))
def test_rows_one_by_one_are_encoded_as_together(rows):
    rows = np.array(rows)
    together = LEARNED.transform(rows)
    assert np.isfinite(together).all()
    np.testing.assert_array_equal(together, np.concatenate([LEARNED.transform(r[None]) for r in rows]))


def test_a_learned_gap_is_beside_the_curve():
    encoded = LEARNED.transform(X)
    on_curve = LEARNED.curves.transform(LEARNED.gaps.filled(X[:, [0, 2]]))[2, 0]
    np.testing.assert_allclose(encoded[2, :2], [on_curve, 1.3])
    np.testing.assert_array_equal(encoded[0, 1], 0.0)


def test_features_that_are_left_out_are_the_same_for_all_rows():
    without = LEARNED.replace(left_out=(1, 2))
    encoded = without.transform(X)
    assert not encoded[:, 2:6].any()
    np.testing.assert_array_equal(encoded[:, [0, 1, 6, 7, 8]], LEARNED.transform(X)[:, [0, 1, 6, 7, 8]])
    numeric = Encoding.identity(2).replace(left_out=(0,))
    np.testing.assert_array_equal(numeric.transform(np.array([[3.0, 4.0]])), [[0.0, 4.0]])


def test_other_units_give_the_same_coordinates():
    center, scale = np.array([3.0, -2.0]), np.array([2.0, 0.5])
    moved = X.copy()
    moved[:, [0, 2]] = X[:, [0, 2]] * scale + center
    np.testing.assert_allclose(
        LEARNED.rescaled(center, scale).transform(moved), LEARNED.transform(X), atol=1e-12
    )


def test_spreads_of_categories_are_half_the_mean_squared_distance():
    spreads = LEARNED.squared_spreads(X, np.ones(2))
    encoded = LEARNED.transform(X)
    expected = 0.5 * np.square(encoded[:, None, 2:5] - encoded[:, 2:5]).mean(axis=1)
    np.testing.assert_allclose(spreads[:, 2:5], expected)
    slopes = LEARNED.curves.mean_slopes_at(X[:, [0, 2]])
    np.testing.assert_allclose(spreads[[0, 1, 3], 0], slopes[[0, 1, 3], 0] ** 2)

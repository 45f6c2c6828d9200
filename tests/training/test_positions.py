import numpy as np
import pytest

from lann import LANNClassifier
from lann.metric import Encoding, Levels
from lann.training import Settings
from lann.training._initial import Standardization
from lann.training._shared_stage import SharedParameters


@pytest.fixture
def levels():
    """Rows with two numbers, of which one has gaps, and two categories, of which one has gaps."""
    rng = np.random.default_rng(0)
    X = np.column_stack(
        [rng.normal(size=40), rng.integers(0, 4, 40), rng.normal(size=40), rng.integers(0, 2, 40)]
    ).astype(float)
    X[rng.random(40) < 0.3, 0] = np.nan
    X[rng.random(40) < 0.3, 3] = np.nan
    encoding = Encoding.plain(X, (0, 4, 0, 2))
    plain = Levels.plain(X, rng.integers(0, 3, 40), 3, encoding=encoding)
    levels = Standardization(X, encoding=encoding).apply(plain, 5)
    parameters = SharedParameters(levels, Settings())
    # Some steps in random directions: nothing is at its start.
    for _ in range(5):
        shapes = {"feature_slopes": 4, "bin_slopes": (2, 5), "positions": len(parameters.positions)}
        parameters.step({name: rng.normal(size=shape) for name, shape in shapes.items()}, 0.5)
    n_axes = encoding.n_coordinates
    return levels.replace(encoding=parameters.encoding, class_log_weights=0.3 * rng.normal(size=(3, n_axes)))


def test_cells_have_the_coordinates_of_the_encoding(levels):
    parameters = SharedParameters(levels, Settings())
    used = np.array([3, 0, 17, 39, 5])
    np.testing.assert_allclose(
        parameters.encoded(used), levels.encoding.transform(levels.X[used]), atol=1e-12
    )


@pytest.mark.parametrize("with_map", [False, True])
def test_gradients_of_positions_equal_finite_differences(reference, make_batch, levels, with_map):
    settings = Settings(n_neighbors=6, power=2.0)
    n_axes = levels.encoding.n_coordinates
    if with_map:
        components = np.eye(n_axes) + 0.2 * np.random.default_rng(5).normal(size=(n_axes, n_axes))
        levels = levels.replace(components=components)
    batch = make_batch(40, n_axes, seed=1, n_queries=12, n_candidates=15)
    parameters = SharedParameters(levels, settings)
    _, gradient = parameters.loss(batch)
    displacements, slopes = parameters.positions.displacements.copy(), parameters.feature_slopes.copy()

    def loss_at(values, feature_slopes):
        other = SharedParameters(levels, settings)
        other.positions.displacements[:] = values
        other.feature_slopes[:] = feature_slopes
        log_slopes = feature_slopes[other._numbers, None] + other.bin_slopes
        other.encoding = other.encoding.replace(curves=other.curves.with_slopes(np.exp(log_slopes)))
        return other.loss(batch)[0]

    expected = reference.slopes(lambda values: loss_at(values, slopes), displacements, step=1e-5)
    expected[0] = 0.0  # the constant is not learned
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient["positions"], expected, rtol=1e-3, atol=1e-7)
    expected = reference.slopes(lambda values: loss_at(displacements, values), slopes, step=1e-5)
    np.testing.assert_allclose(gradient["feature_slopes"], expected, rtol=1e-3, atol=1e-7)


def test_categories_that_mean_the_same_approach_each_other():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.arange(60) % 12, rng.normal(size=60)]).astype(float)
    y = (X[:, 0] % 2).astype(np.int64)
    clf = LANNClassifier(
        random_state=0, levels=("curves",), alpha=0.1, learning_rate=0.2, categorical_features=[0]
    ).fit(X, y)
    (positions,) = clf.encoding_.positions
    squares = np.square(positions.positions[:, None] - positions.positions).sum(axis=2)
    even = np.array([int(category) % 2 == 0 for category in clf.schema_.features[0].categories])
    same = even[:, None] == even
    assert squares[same & ~np.eye(len(even), dtype=bool)].mean() < 0.9 * squares[~same].mean()

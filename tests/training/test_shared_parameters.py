import numpy as np
import pytest

from lann.metric import FeatureCurves, Levels
from lann.training import Settings
from lann.training._shared_stage import SharedParameters


@pytest.fixture
def levels(row_weights):
    """Rows on curves that are not straight and jump, with class weights.

    One feature has few values, one is constant.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 2], X[:, 3] = rng.integers(0, 3, 40), 1.0
    curves = FeatureCurves.straight(X, 5)
    curves = curves.with_slopes(np.exp(0.4 * rng.normal(size=curves.slopes.shape)))
    inf = np.inf
    curves = curves.with_thresholds(np.array([[-0.6, 0.4], [0.2, inf], [inf, inf], [inf, inf]]))
    curves = curves.with_slopes(curves.slopes, np.array([[0.3, 0.0], [0.5, 0], [0, 0], [0, 0]]))
    plain = Levels.plain(X, rng.integers(0, 3, 40), 3, row_weights=row_weights(40))
    return plain.with_curves(curves).replace(class_log_weights=0.5 * rng.normal(size=(3, 4)))


@pytest.fixture
def mapped(levels):
    """The same rows with a linear map to three axes."""
    components = np.eye(3, 4) + 0.3 * np.random.default_rng(5).normal(size=(3, 4))
    return levels.replace(components=components, class_log_weights=levels.class_log_weights[:, :3])


@pytest.fixture
def batch_of(make_batch):
    def make(n_axes=4, seed=1):
        return make_batch(40, n_axes, seed=seed, n_queries=12, n_candidates=15)

    return make


@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
@pytest.mark.parametrize("with_map", [False, True])
def test_the_loss_equals_its_definition(reference, batch_of, levels, mapped, with_map, n_neighbors):
    settings = Settings(n_neighbors=n_neighbors, power=2.0)
    levels = mapped if with_map else levels
    batch = batch_of(3 if with_map else 4)
    batch.candidates[:, 3] = -1  # a missing candidate
    batch.candidates[0] = -1  # a query without candidates
    found, _ = SharedParameters(levels, settings).loss(batch)
    weights = np.exp(levels.class_log_weights)[levels.labels]
    expected = reference.batch_loss(
        levels.points, weights, levels.labels, batch, settings, row_weights=levels.row_weights
    )
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("with_map", [False, True])
def test_gradients_equal_finite_differences(reference, batch_of, levels, mapped, with_map):
    settings = Settings(n_neighbors=6, power=2.0)
    levels = mapped if with_map else levels
    batch = batch_of(3 if with_map else 4)
    parameters = SharedParameters(levels, settings)
    if with_map:
        parameters.learn_map()
    _, gradient = parameters.loss(batch)

    log_slopes, class_log_weights = np.log(levels.curves.slopes), levels.class_log_weights
    starts = {
        "feature_slopes": log_slopes.mean(axis=1),
        "bin_slopes": log_slopes - log_slopes.mean(axis=1, keepdims=True),
        "jumps": levels.curves.jumps,
        "class_scales": class_log_weights.mean(axis=1),
        "class_weights": class_log_weights - class_log_weights.mean(axis=1, keepdims=True),
    }
    if with_map:
        starts["map"] = levels.components
    assert set(gradient) == set(starts)

    def loss_at(name, values):
        parts = {"map": None, **starts, name: values}
        slopes = np.exp(parts["feature_slopes"][:, None] + parts["bin_slopes"])
        changed = levels.with_curves(levels.curves.with_slopes(slopes, parts["jumps"])).replace(
            class_log_weights=parts["class_scales"][:, None] + parts["class_weights"],
            components=parts["map"],
        )
        return SharedParameters(changed, settings).loss(batch)[0]

    for name, start in starts.items():
        expected = reference.slopes(lambda values, name=name: loss_at(name, values), start, step=1e-5)
        assert np.abs(expected).max() > 1e-4
        np.testing.assert_allclose(gradient[name], expected, rtol=1e-3, atol=1e-7, err_msg=name)


@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e6])
def test_steps_of_any_size_stay_in_bounds(levels, batch_of, rate):
    parameters = SharedParameters(levels, Settings())
    parameters.learn_map()
    for seed in range(8):
        _, gradient = parameters.loss(batch_of(seed=seed))
        parameters.step(gradient, rate)
        slopes, class_log_weights = parameters.curves.slopes, parameters.class_log_weights
        assert np.all(np.isfinite(class_log_weights))
        assert np.all(np.isfinite(slopes))
        assert slopes.min() >= np.exp(-4.0 - 3.0) * (1 - 1e-9)
        jumps = parameters.curves.jumps
        assert np.all((jumps >= 0) & (jumps <= 20.0))
        assert not jumps[~np.isfinite(levels.curves.thresholds)].any()
        assert np.abs(parameters.map - np.eye(4)).max() <= 20.0
        np.testing.assert_allclose(class_log_weights.mean(axis=0), 0, atol=1e-6 * max(rate, 1))


@pytest.mark.parametrize("level", ["map", "class", "curves"])
def test_a_dropped_level_is_neutral_and_no_longer_learned(levels, batch_of, level):
    parameters = SharedParameters(levels, Settings())
    parameters.learn_map()
    parameters.map[0, 1] = 0.4
    other = parameters.without(level)
    assert (other.map is None) == (level == "map")
    assert (not other.class_log_weights.any()) == (level == "class")
    assert (np.ptp(other.curves.slopes, axis=1).max() < 1e-12) == (level == "curves")
    assert (not other.curves.jumps.any()) == (level == "curves")
    before = other.curves.slopes / other.curves.slopes[:, :1]
    _, gradient = other.loss(batch_of())
    assert ("map" in gradient) == (level != "map")
    assert ("class_weights" in gradient) == (level != "class")
    assert ("bin_slopes" in gradient) == ("jumps" in gradient) == (level != "curves")
    other.step(gradient, 0.1)
    after = other.curves.slopes / other.curves.slopes[:, :1]
    assert np.allclose(before, after) == (level == "curves")
    assert (not other.curves.jumps.any()) == (level == "curves")
    assert other.without(level) is None

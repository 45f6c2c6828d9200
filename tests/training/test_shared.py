import numpy as np
import pytest

from lann.encoding import FeatureCurves
from lann.metrics import Levels
from lann.training import Settings
from lann.training.monitor import Monitor
from lann.training.run import Run
from lann.training.shared import learn_shared, loss_of, pruned, sample_reference
from lann.training.shared_stage import SharedStage

EPSILON = 0.05


@pytest.fixture
def levels():
    """Points on bent curves with class weights; one feature of few values, one constant."""
    return curved_levels()


@pytest.fixture
def mapped(levels):
    """The same points with three axes across the features."""
    rng = np.random.default_rng(5)
    return levels.replace(
        map=np.eye(3, 4) + 0.3 * rng.normal(size=(3, 4)), class_log_weights=levels.class_log_weights[:, :3]
    )


def curved_levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 4))
    X[:, 2], X[:, 3] = rng.integers(0, 3, 40), 1.0
    curves = FeatureCurves.straight(X, 5)
    slopes = np.exp(0.4 * rng.normal(size=curves.slopes.shape))
    plain = Levels.plain(X, rng.integers(0, 3, 40), 3)
    return plain.replace(
        curves=FeatureCurves(curves.edges, slopes), class_log_weights=0.5 * rng.normal(size=(3, 4))
    )


def a_batch(seed=1):
    rng = np.random.default_rng(seed)
    rows = rng.choice(40, 12, replace=False)
    candidates = np.stack([np.delete(np.arange(40), i)[rng.permutation(39)[:15]] for i in rows])
    return rows, candidates, rng.random(candidates.shape) < 0.8, np.array([1.0, 1.0, 1.0, 0.0])


@pytest.mark.parametrize("loss", ["shares", "softmax"])
@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
def test_the_loss_is_that_of_its_definition(reference, levels, mapped, loss, n_neighbors):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=n_neighbors, power=2.0)
    rows, candidates, alive, scales = a_batch()
    candidates[:, 3] = -1  # a missing candidate
    alive[0] = False  # a query that sees nobody
    for some, axes in ((levels, scales), (mapped, scales[1:])):
        found, _ = SharedStage(some, settings).loss(rows, candidates, alive, axes, EPSILON)
        expected = reference.batch_loss(
            some.points, np.exp(some.class_log_weights)[some.labels], some.labels,
            rows, candidates, alive, axes, EPSILON, settings, 3,
        )  # fmt: skip
        assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", ["shares", "softmax"])
@pytest.mark.parametrize("with_map", [False, True])
def test_gradients_equal_finite_differences(reference, levels, mapped, loss, with_map):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=6, power=2.0)
    levels = mapped if with_map else levels
    stage = SharedStage(levels, settings)
    rows, candidates, alive, scales = a_batch()
    batch = rows, candidates, alive, scales[1:] if with_map else scales
    if with_map:
        stage.unlock_map()
    _, gradient = stage.loss(*batch, EPSILON)

    log_slopes = np.log(levels.curves.slopes)
    class_weights = levels.class_log_weights
    starts = {
        "height": log_slopes.mean(axis=1),
        "bin": log_slopes - log_slopes.mean(axis=1, keepdims=True),
        "class_height": class_weights.mean(axis=1),
        "class": class_weights - class_weights.mean(axis=1, keepdims=True),
    }
    if with_map:
        starts["map"] = levels.map
    assert set(gradient) == set(starts)

    def loss_at(name, values):
        parts = {"map": None, **starts, name: values}
        changed = levels.replace(
            curves=FeatureCurves(levels.curves.edges, np.exp(parts["height"][:, None] + parts["bin"])),
            class_log_weights=parts["class_height"][:, None] + parts["class"],
            map=parts["map"],
        )
        return SharedStage(changed, settings).loss(*batch, EPSILON)[0]

    for name, start in starts.items():
        expected = reference.slopes(lambda values, name=name: loss_at(name, values), start, step=1e-5)
        assert np.abs(expected).max() > 1e-4
        np.testing.assert_allclose(gradient[name], expected, rtol=1e-3, atol=1e-7, err_msg=name)


def test_a_second_call_gives_the_same_gradient(levels):
    stage = SharedStage(levels, Settings())
    first, second = (stage.loss(*a_batch(), EPSILON)[1] for _ in range(2))
    for name in first:
        np.testing.assert_array_equal(first[name], second[name])


@pytest.mark.parametrize(("curves", "class_weights"), [(True, False), (False, True)])
def test_a_level_that_is_off_has_no_gradient(levels, curves, class_weights):
    settings = Settings(curves=curves, class_weights=class_weights)
    stage = SharedStage(levels, settings)
    _, gradient = stage.loss(*a_batch(), EPSILON)
    assert set(gradient) == ({"height", "bin"} if curves else {"class", "class_height"})
    stage.step(gradient, 0.1)
    same_curves = np.allclose(stage.curves.slopes, levels.curves.slopes)
    same_classes = np.allclose(stage.class_log_weights, levels.class_log_weights)
    assert (same_curves, same_classes) == (not curves, not class_weights)


def test_the_pull_is_the_slope_of_its_penalty(reference, levels):
    stage = SharedStage(levels, Settings(alpha=2.0))
    stage.unlock_map()
    stage.map[:] += 0.1
    # Only the direction: each pull must lead to less of what it pulls at.
    for name, values in stage.pull().items():
        parameter = getattr(stage, {"class": "by_class"}.get(name, name))
        assert np.sum(values * (parameter - np.eye(4) if name == "map" else parameter)) > 0
    silent = SharedStage(levels, Settings(alpha=0.0)).pull()
    assert all(not values.any() for values in silent.values())


@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e6])
def test_steps_of_any_size_stay_in_bounds(levels, rate):
    stage = SharedStage(levels, Settings())
    stage.unlock_map()
    for seed in range(8):
        _, gradient = stage.loss(*a_batch(seed), EPSILON)
        stage.step(gradient, rate)
        assert np.all(np.isfinite(stage.class_log_weights))
        assert np.all(np.isfinite(stage.curves.slopes))
        assert np.all(stage.curves.slopes > 0)
        # a ≥ −4 and |u| ≤ 3
        assert stage.curves.slopes.min() >= np.exp(-7.0) * (1 - 1e-9)
        assert np.abs(stage.map - np.eye(4)).max() <= 20.0
        np.testing.assert_allclose(stage.class_log_weights.mean(axis=0), 0, atol=1e-6 * max(rate, 1))


def two_moons_like(n_points=150):
    """The class depends on the first feature alone, at one place of it."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1.7, 1.7, size=(n_points, 3))
    return Levels.plain(X, (X[:, 0] > 0.3).astype(np.int64), 2).replace(curves=FeatureCurves.straight(X, 8))


def test_learning_finds_the_feature_and_the_place_that_matter():
    levels = two_moons_like()
    monitor = Monitor(6)
    learned = learn_shared(levels, Settings(), Run(6, np.random.default_rng(0), monitor))
    assert len(monitor.losses) == 6
    assert monitor.losses[-1] < monitor.losses[0]
    slopes = learned.curves.slopes_at(levels.X).mean(axis=0)
    assert slopes[0] > 2 * slopes[1:].max()
    place = learned.curves.slopes_at(np.array([[0.3, 0, 0], [-1.5, 0, 0]]))[:, 0]
    assert place[0] > place[1]
    np.testing.assert_array_equal(learned.X, levels.X)
    assert learned.point_log_weights.shape == levels.X.shape


def test_the_same_generator_gives_the_same_bits():
    levels = two_moons_like()
    runs = [
        learn_shared(levels, Settings(n_jobs=n), Run(2, np.random.default_rng(3), Monitor(2))) for n in (1, 2)
    ]
    np.testing.assert_array_equal(runs[0].curves.slopes, runs[1].curves.slopes)
    np.testing.assert_array_equal(runs[0].class_log_weights, runs[1].class_log_weights)
    np.testing.assert_array_equal(runs[0].map, runs[1].map)


def oblique(n_points=300):
    """The class depends on the difference of two features; a third is noise."""
    X = np.random.default_rng(0).normal(size=(n_points, 3))
    X[:, 1] += 3.0 * X[:, 0]
    X[:, 1] /= X[:, 1].std()
    return Levels.plain(X, (X[:, 1] > X[:, 0]).astype(np.int64), 2).replace(
        curves=FeatureCurves.straight(X, 8)
    )


def test_the_map_turns_the_axes_across_the_features():
    levels = oblique()
    learned = learn_shared(levels, Settings(), Run(12, np.random.default_rng(0), Monitor(12)))
    measured = learned.map.T @ learned.map
    # What counts is the difference of the two: the product of their weights is negative, and large.
    assert measured[0, 1] < -0.1
    assert np.abs(measured[:2, 2]).max() < 0.3 * abs(measured[0, 1])


def test_entries_of_the_map_whose_gradients_disagree_stay_where_they_are():
    levels = two_moons_like()
    learned = learn_shared(levels, Settings(), Run(12, np.random.default_rng(0), Monitor(12)))
    between_noise = learned.map[1:, 1:][~np.eye(2, dtype=bool)]
    assert np.abs(between_noise).max() < 0.05


@pytest.mark.parametrize("name", ["map", "class", "curves"])
def test_what_is_left_out_is_neutral_and_no_longer_learned(levels, name):
    stage = SharedStage(levels, Settings())
    stage.unlock_map()
    stage.map[0, 1] = 0.4
    other = stage.without(name)
    assert (other.map is None) == (name == "map")
    assert (not other.class_log_weights.any()) == (name == "class")
    assert (np.ptp(other.curves.slopes, axis=1).max() < 1e-12) == (name == "curves")
    before = other.curves.slopes / other.curves.slopes[:, :1]
    _, gradient = other.loss(*a_batch(), EPSILON)
    assert ("map" in gradient) == (name != "map")
    assert ("class" in gradient) == (name != "class")
    other.step(gradient, 0.1)
    after = other.curves.slopes / other.curves.slopes[:, :1]
    assert np.allclose(before, after) == (name == "curves")
    assert other.without(name) is None or name == "curves"


def test_levels_that_do_not_help_are_left_out():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    levels = Levels.plain(X, (X[:, 0] > 0).astype(np.int64), 2).replace(curves=FeatureCurves.straight(X, 4))
    stage = SharedStage(levels.replace(class_log_weights=rng.normal(size=(2, 3))), Settings())
    stage.unlock_map()
    stage.map[0] = [0.1, 2.0, 2.0]  # as wrong as the class weights
    judges = np.arange(100)
    before = loss_of(stage, judges)
    better, left_out = pruned(stage, judges)
    assert "map" in left_out
    assert "class" in left_out
    assert loss_of(better, judges) < before


def test_of_many_points_some_are_left_out_instead_of_dropped_later():
    rng = np.random.default_rng(0)
    everyone, survival = sample_reference(500, Settings(candidate_dropout=0.7), rng)
    np.testing.assert_array_equal(everyone, np.arange(500))
    assert survival == pytest.approx(0.3)
    some, survival = sample_reference(10_000, Settings(candidate_dropout=0.7), rng)
    assert len(set(some)) == len(some) == 3000
    assert survival == pytest.approx(1.0)

"""PublishedLANN: the algorithm exactly as published."""

import numpy as np
import pytest

from lann.baselines import PublishedLANN

FORMS = [{}, {"metric": "full"}, {"metric": "low_rank", "n_components": 3}]


@pytest.fixture(scope="module")
def data(wine):
    X, y = wine
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def test_it_equals_the_plain_loop(reference, blobs):
    """The whole fit: shuffled rows, a learning rate that falls to 0, ε from the data."""
    X, y = blobs
    clf = PublishedLANN(constraint="norm", temperature=2.0, max_iter=3, random_state=0).fit(X, y)
    assert clf.temperature_ == 2.0
    typical = np.median(np.sort(reference.distances(X, X, np.ones(4)), axis=1)[:, 1:6])
    rng = np.random.default_rng(np.random.RandomState(0).randint(2**31 - 1))
    # Weights that add up to 1: distances, ε and 1/β are a quarter.
    weights = np.full(X.shape, 0.25)
    losses = [
        reference.exhaustive_pass(
            X,
            y,
            weights,
            rng.permutation(90),
            0.02 * (1 - epoch / 3),
            k=5,
            epsilon=1e-3 * typical / 4,
            temperature=2.0 * 4,
            n_classes=3,
            norm=1.0,
        )
        for epoch in range(3)
    ]
    np.testing.assert_allclose(clf.loss_curve_, losses, rtol=1e-7)
    np.testing.assert_allclose(clf.feature_weights_, 4 * weights, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("form", FORMS, ids=["diagonal", "full", "low rank"])
def test_the_norm_is_constant(data, form):
    clf = PublishedLANN(**form, constraint="norm", max_iter=3, random_state=0).fit(*data)
    levels = clf.model_.levels
    n_axes = clf.model_.n_axes
    norms = levels.weights.sum(axis=1)
    if form:
        norms = np.square(levels.scaled_matrices()).sum(axis=(1, 2))
    np.testing.assert_allclose(norms, n_axes, rtol=1e-9)
    assert np.ptp(clf.feature_weights_) > 0.01


def test_the_determinant_is_constant(data):
    clf = PublishedLANN(constraint="determinant", max_iter=3, random_state=0).fit(*data)
    np.testing.assert_allclose(np.log(clf.feature_weights_).sum(axis=1), 0, atol=1e-9)
    assert np.ptp(clf.feature_weights_) > 0.01


@pytest.mark.parametrize("form", FORMS[1:], ids=["full", "low rank"])
def test_matrices_measure_by_their_formula(data, form):
    X, y = data
    clf = PublishedLANN(**form, max_iter=3, random_state=0).fit(X[::2], y[::2])
    levels = clf.model_.levels
    steps = levels.transform(X[1:20:2])[:, None] - levels.points
    projected = np.einsum("jar,qja->qjr", levels.scaled_matrices(), steps)
    expected = np.sqrt(np.sort(np.square(projected).sum(axis=2), axis=1)[:, :5])
    np.testing.assert_allclose(clf.kneighbors(X[1:20:2])[0], expected, rtol=1e-9)


def test_the_automatic_temperature_follows_the_scale_of_the_data(data):
    X, y = data
    one, other = (
        PublishedLANN(temperature="auto", max_iter=2, random_state=0).fit(X * scale, y)
        for scale in (1.0, 8.0)
    )
    assert one.temperature_ > 0
    np.testing.assert_allclose(other.temperature_, one.temperature_ / 64)
    np.testing.assert_array_equal(other.predict(X * 8.0), one.predict(X))


def test_verbose_prints_a_line_per_epoch(data, capsys):
    PublishedLANN(max_iter=2, verbose=1, random_state=0).fit(*data)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 2
    assert lines[0].startswith("[PublishedLANN] epoch 1/2, ")

import numpy as np
import pytest

from lann import LANNClassifier
from lann.plot._ellipses import local_matrices, outlines


@pytest.mark.parametrize("metric", ["diagonal", "full", "low_rank"])
def test_matrices_measure_small_steps_as_the_model_does(metric):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    clf = LANNClassifier(metric=metric, rank=2 if metric == "low_rank" else None, random_state=0).fit(X, y)
    levels = clf._model.levels
    rows = np.arange(0, 200, 7)
    matrices = local_matrices(levels, rows)
    steps = 1e-7 * rng.normal(size=(len(rows), 3))
    near = levels.curves.transform(X[rows] + steps)
    exact = levels.contributions(near, rows[:, None]).sum(axis=2)[:, 0]
    found = np.einsum("ja,jab,jb->j", steps, matrices, steps)
    # A step may lead over the edge of a bin, where the slope is another.
    assert np.median(np.abs(found / exact - 1)) < 1e-4
    assert np.mean(np.abs(found / exact - 1) < 1e-3) > 0.9


def test_outlines_are_equally_far():
    matrices = np.array([[[4.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]])
    lines = outlines(matrices, 0.25, np.array([10.0, 10.0]))
    far = np.einsum("jsa,jab,jsb->js", lines, matrices, lines)
    np.testing.assert_allclose(far, 0.25)
    np.testing.assert_allclose(lines[:, 0], lines[:, -1], atol=1e-12)


def test_what_a_point_ignores_reaches_no_further_than_the_picture():
    lines = outlines(np.array([[[1.0, 0.0], [0.0, 0.0]]]), 0.25, np.array([2.0, 3.0]))
    assert np.abs(lines[0, :, 1]).max() == pytest.approx(3.0, rel=1e-3)
    assert np.abs(lines[0, :, 0]).max() == pytest.approx(0.5, rel=1e-3)

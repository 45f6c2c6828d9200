import numpy as np
import pytest

from lann.plot._ellipses import outlines


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

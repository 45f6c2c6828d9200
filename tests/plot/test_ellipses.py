import numpy as np
import pytest

from lann.plot._ellipses import ellipse_outlines


def test_outlines_have_the_given_distance():
    matrices = np.array([[[4.0, 0.0], [0.0, 1.0]], [[2.0, 1.0], [1.0, 3.0]]])
    outlines = ellipse_outlines(matrices, 0.25, np.array([10.0, 10.0]))
    squared = np.einsum("jsa,jab,jsb->js", outlines, matrices, outlines)
    np.testing.assert_allclose(squared, 0.25)
    np.testing.assert_allclose(outlines[:, 0], outlines[:, -1], atol=1e-12)


def test_half_axes_are_limited_for_features_without_weight():
    outlines = ellipse_outlines(np.array([[[1.0, 0.0], [0.0, 0.0]]]), 0.25, np.array([2.0, 3.0]))
    assert np.abs(outlines[0, :, 1]).max() == pytest.approx(3.0, rel=1e-3)
    assert np.abs(outlines[0, :, 0]).max() == pytest.approx(0.5, rel=1e-3)

import numpy as np
import pytest
import sklearn.datasets

from lann.datasets._bundled import BUNDLED, read_bundled


@pytest.mark.parametrize("name", BUNDLED)
def test_content_is_that_of_scikit_learn(name):
    original = getattr(sklearn.datasets, f"load_{name.replace('-', '_')}")()
    table = read_bundled(name)
    np.testing.assert_array_equal(table.data, original.data)
    np.testing.assert_array_equal(table.target, original.target)
    assert list(table.feature_names) == list(original.feature_names)
    assert table.description == original.DESCR

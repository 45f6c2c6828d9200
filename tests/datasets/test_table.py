import numpy as np
import pandas as pd
import pytest

from lann.datasets._table import Table


@pytest.fixture
def table():
    return Table(
        name="three",
        # In Fortran order and of integers: the user gets neither.
        data=np.asfortranarray([[1, 2], [3, 4], [5, 6]]),
        target=np.array(["b", "a", "b"]),
        feature_names=np.array(["height", "width"]),
        target_names=["a", "b"],
        description="Three rows.",
        extra={"roles": "none"},
    )


def test_data_are_float64_and_c_contiguous(table):
    bunch = table.to_bunch(as_frame=False)
    np.testing.assert_array_equal(bunch.data, [[1, 2], [3, 4], [5, 6]])
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.frame is None


def test_arrays_are_writeable_copies(table):
    table.data.flags.writeable = table.target.flags.writeable = False
    bunch = table.to_bunch(as_frame=False)
    assert bunch.data.flags.writeable
    assert bunch.target.flags.writeable


def test_bunch_has_all_entries(table):
    bunch = table.to_bunch(as_frame=False)
    assert bunch.name == "three"
    assert bunch.feature_names == ["height", "width"]
    assert all(type(name) is str for name in bunch.feature_names)
    assert bunch.target_names.tolist() == ["a", "b"]
    assert bunch.DESCR == "Three rows."
    assert bunch.roles == "none"


def test_frames_have_the_feature_names(table):
    bunch = table.to_bunch(as_frame=True)
    assert isinstance(bunch.data, pd.DataFrame)
    assert isinstance(bunch.target, pd.Series)
    assert list(bunch.frame.columns) == ["height", "width", "target"]
    assert bunch.frame["target"].tolist() == ["b", "a", "b"]
    np.testing.assert_array_equal(bunch.data.to_numpy(), [[1, 2], [3, 4], [5, 6]])

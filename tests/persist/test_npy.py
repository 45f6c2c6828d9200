"""Arrays as entries: NumPy reads what is written, and only the declared array is read."""

import io

import numpy as np
import pytest

from lann.persist._errors import InvalidModelFile
from lann.persist._npy import NUMBERS, dtype_name, order_of, read_array, write_array

SHAPES = [(), (0,), (5,), (2, 3), (3, 0), (2, 3, 4), (1000, 1)]


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("dtype", [*NUMBERS, "<U1", "<U300"])
def test_numpy_reads_the_same(dtype, shape, order):
    array = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 2, order=order).astype(dtype)
    content = write_array(array, dtype, order)
    by_numpy = np.load(io.BytesIO(content), allow_pickle=False)
    by_us = read_array(memoryview(content), dtype, shape, order, "x")
    for found in (by_numpy, by_us):
        assert dtype_name(found.dtype) == dtype
        assert found.flags.f_contiguous == (array if order == "F" else array.copy("C")).flags.f_contiguous
        np.testing.assert_array_equal(found, array)
    assert by_us.flags.writeable
    assert (len(content) - array.nbytes) % 64 == 0


def test_arrays_of_other_machines_are_written_alike():
    array = np.arange(3.0)
    assert write_array(array.astype(">f8"), "<f8", "C") == write_array(array, "<f8", "C")
    assert dtype_name(np.dtype(">f8")) == "<f8"


def test_the_order_in_memory_is_kept():
    array = np.arange(6.0).reshape(2, 3)
    assert [order_of(a) for a in (array, array.T, array[0], array[:, :2])] == ["C", "F", "C", "C"]


@pytest.mark.parametrize(
    ("dtype", "shape", "order"),
    [("<f8", (3, 2), "C"), ("<f8", (2, 3), "F"), ("<f8", (6,), "C"), ("<i8", (2, 3), "C"),
     ("<f4", (2, 6), "C"),
     ("<f8", (2**40, 2**40), "C"), ("<f8", (0,), "C")],
)  # fmt: skip
def test_other_declarations_raise(dtype, shape, order):
    content = write_array(np.zeros((2, 3)), "<f8", "C")
    with pytest.raises(InvalidModelFile, match="is not an array of type"):
        read_array(memoryview(content), dtype, shape, order, "x")


def test_bytes_that_are_no_values_raise():
    booleans = write_array(np.array([True]), "|b1", "C")
    with pytest.raises(InvalidModelFile, match="neither true nor false"):
        read_array(memoryview(booleans[:-1] + b"\x02"), "|b1", (1,), "C", "x")

import numpy as np
import pytest

from lann.training import _initial_matrices
from lann.training._initial_matrices import check_matrix_memory, initial_matrices


@pytest.mark.parametrize(("single_from", "dtype"), [(2**24, np.float64), (0, np.float32)])
def test_matrices_start_as_identities_and_many_are_float32(monkeypatch, plain, single_from, dtype):
    monkeypatch.setattr(_initial_matrices, "SINGLE_FROM", single_from)
    matrices = initial_matrices(plain)
    np.testing.assert_array_equal(matrices, np.tile(np.eye(4), (90, 1, 1)))
    assert matrices.dtype == dtype


def test_matrices_that_exist_are_copied(plain):
    existing = np.random.default_rng(0).normal(size=(90, 4, 2)).astype(np.float32)
    matrices = initial_matrices(plain.replace(point_matrices=existing))
    np.testing.assert_array_equal(matrices, existing)
    assert matrices.dtype == np.float32
    assert not np.shares_memory(matrices, existing)


def test_matrices_that_take_too_much_memory_raise(monkeypatch, plain):
    monkeypatch.setattr(_initial_matrices, "MOST_NUMBERS", 90 * 16)
    check_matrix_memory(plain)
    monkeypatch.setattr(_initial_matrices, "MOST_NUMBERS", 90 * 16 - 1)
    with pytest.raises(ValueError, match=r"Matrices over 4 axes for 90 rows take about .* GB to learn"):
        check_matrix_memory(plain)

import numpy as np
import pytest

from lann.reject._held_out import check_folds, split_folds, split_part

LABELS = np.repeat([0, 1, 2], [50, 30, 3])


def test_every_row_is_held_out_once():
    folds = split_folds(LABELS, 5, seed=0)
    held_out = np.concatenate([held for _, held in folds])
    np.testing.assert_array_equal(np.sort(held_out), np.arange(83))
    for train, held in folds:
        assert not set(train) & set(held)
        assert abs(np.mean(LABELS[held] == 0) - 50 / 83) < 0.1


def test_fewer_folds_where_classes_are_small():
    assert len(split_folds(np.array([0, 0, 0, 1, 1]), 5, seed=0)) == 3


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ([0, 1, 2], "needs two rows of a class at least; got n_samples=3"),
        ([0, 0, 1], "one class only to train"),
    ],
)
def test_too_few_rows_for_folds(labels, message):
    with pytest.raises(ValueError, match=message):
        split_folds(np.array(labels), 5, seed=0)


@pytest.mark.parametrize("share", [0.1, 0.25, 0.5])
def test_a_share_of_each_class_is_held_back(share):
    ((train, held),) = split_part(LABELS, share, seed=1)
    np.testing.assert_array_equal(np.sort(np.concatenate([train, held])), np.arange(83))
    assert abs(len(held) - share * 83) <= 1
    assert abs((LABELS[held] == 0).sum() - share * 50) <= 1
    assert set(LABELS[train]) == {0, 1, 2}


def test_no_row_to_hold_back():
    with pytest.raises(ValueError, match=r"cv=0\.2 of n_samples=3 holds back no row"):
        split_part(np.array([0, 1, 2]), 0.2, seed=0)


@pytest.mark.parametrize(
    ("folds", "message"),
    [
        ([], "at least one fold"),
        ([(None, [0, 1], [])], "positions of training rows and of held-out rows"),
        ([(None, [0, 1], [0.5])], "positions of training rows and of held-out rows"),
        ([(None, [0, 1], [5])], "must be those of the 5 rows"),
        ([(None, [-1, 1], [2])], "must be those of the 5 rows"),
    ],
)
def test_invalid_folds(folds, message):
    with pytest.raises(ValueError, match=message):
        check_folds(folds, 5)

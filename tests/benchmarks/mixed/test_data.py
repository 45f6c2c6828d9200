import os

import numpy as np
import pytest

from benchmarks.mixed import data
from benchmarks.mixed.data import SETS, load_mixed_sets, small_task


@pytest.fixture
def titanic(folder):
    (found,), skipped = load_mixed_sets(["titanic"])
    assert skipped == {}
    return found


def test_columns_have_the_types_of_the_list_and_gaps_remain(titanic):
    assert titanic.frame.dtypes.astype(str).to_dict() == {
        "age": "float64",
        "class": "category",
        "port": "category",
    }
    assert set(titanic.frame["class"].cat.categories) == {"1", "2", "3"}
    assert "None" in set(titanic.frame["port"].cat.categories)
    assert titanic.frame.isna().sum().to_dict() == {"age": 5, "class": 0, "port": 5}


def test_training_rows_are_at_most_so_many_and_all_others_of_the_half_are_tested(titanic, monkeypatch):
    splits = titanic.splits(0, 3)
    for train, test in splits:
        assert (len(train), len(test)) == (75, 75)
        assert not set(train) & set(test)
        assert abs(titanic.y[train].mean() - titanic.y.mean()) < 0.02
    np.testing.assert_array_equal(titanic.splits(0, 2)[1][0], splits[1][0])
    assert set(titanic.splits(1000, 1)[0][0]) != set(splits[0][0])
    monkeypatch.setattr(data, "MOST_TRAINING_ROWS", 20)
    assert [len(rows) for rows in titanic.splits(0, 1)[0]] == [20, 75]


def test_a_task_has_the_rows_as_they_are(titanic):
    (split,) = titanic.splits(0, 1)
    task = titanic.task(split)
    assert task.X_train.equals(titanic.frame.iloc[split[0]])
    assert task.X_test.equals(titanic.frame.iloc[split[1]])
    np.testing.assert_array_equal(task.y_test, titanic.y[split[1]])
    # Training and test rows have the same levels, whether or not all of them occur.
    assert (task.X_train.dtypes == task.X_test.dtypes).all()


def test_missing_files_are_skipped_with_a_reason(folder):
    found, skipped = load_mixed_sets(["titanic", "adult"])
    assert [one.name for one in found] == ["titanic"]
    assert skipped["adult"].startswith("needs mixed/adult.csv.gz in the folder named by LANN_DATA")


def test_the_small_task_has_numbers_categories_and_gaps():
    task = small_task()
    assert task.X_train.dtypes.astype(str).tolist() == ["float64", "category"]
    assert (task.X_train.isna().sum() > 5).all()
    assert set(task.y_train) == {0, 1}


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("LANN_DATA"), reason="needs the data files: set LANN_DATA")
def test_the_real_files_have_the_documented_columns_and_gaps():
    found, skipped = load_mixed_sets(SETS)
    if skipped:
        pytest.skip(f"not all files are here: {', '.join(skipped)}")
    documented = {
        one.name: (len(one.y), len(one.numeric), len(one.categorical), int(one.frame.isna().sum().sum()))
        for one in found
    }
    assert documented == {
        "adult": (48842, 6, 8, 6465),
        "bank-marketing": (45211, 7, 9, 0),
        "crx": (690, 6, 9, 67),
        "dermatology": (366, 33, 1, 8),
        "eucalyptus": (736, 14, 5, 448),
        "heart-disease": (303, 6, 7, 6),
        "house-votes-84": (435, 0, 16, 392),
        "kr-vs-kp": (3196, 0, 36, 0),
        "mushroom": (8124, 0, 22, 2480),
        "tic-tac-toe": (958, 0, 9, 0),
        "titanic": (1309, 4, 3, 266),
    }
    for one in found:
        ((train, test),) = one.splits(0, 1)
        assert len(train) == min(len(one.y) // 2, 5000)
        assert len(test) == len(one.y) - len(one.y) // 2

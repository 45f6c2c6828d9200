import os

import numpy as np
import pytest

from benchmarks.noisy import data
from benchmarks.noisy.data import SETS, load_noisy_sets


@pytest.fixture
def titanic(folder):
    (found,), skipped = load_noisy_sets(["titanic"])
    assert skipped == {}
    return found


def test_categories_are_those_of_the_list_and_only_empty_cells_are_missing(titanic):
    assert (titanic.numeric, titanic.categorical) == (["age", "fare"], ["class", "port"])
    assert titanic.table["age"].isna().sum() == titanic.table["port"].isna().sum() == 5
    assert set(titanic.table["class"]) == {"1", "2", "3"}
    assert "None" in set(titanic.table["port"])
    assert set(titanic.y) == {0, 1}


def test_without_a_list_all_columns_are_numbers(folder):
    (sea,), _ = load_noisy_sets(["sea"])
    assert (sea.numeric, sea.categorical) == (["f0", "f1", "f2"], [])
    task = sea.task(sea.splits(0, 1)[0])
    assert task.X_train.shape == task.X_test.shape == (50, 3)
    np.testing.assert_allclose(task.X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(task.X_train.std(axis=0), 1)


def test_rows_are_encoded_by_the_training_rows_alone(titanic):
    train, test = titanic.splits(0, 1)[0]
    task = titanic.task((train, test))
    # Two numbers, three classes, three ports and the level for missing ones.
    assert task.X_train.shape == (60, 2 + 3 + 3 + 1)
    assert np.isfinite(task.X_train).all()
    np.testing.assert_allclose(task.X_train[:, :2].mean(axis=0), 0, atol=1e-12)
    assert set(np.unique(task.X_train[:, 2:])) == {0, 1}
    table = titanic.table.copy()
    table.iloc[test, 0] += 1000.0
    table.iloc[test[0], 1] = "4"
    changed = data.NoisySet(
        "titanic", table, titanic.y, titanic.numeric, titanic.categorical, ""
    ).task((train, test))  # fmt: skip
    np.testing.assert_array_equal(changed.X_train, task.X_train)
    assert changed.X_test[0, 2:5].sum() == 0  # a level that the training rows do not have
    assert (task.X_test[:, 2:5].sum(axis=1) == 1).all()


def test_splits_are_halves_with_the_shares_of_the_classes(titanic, monkeypatch):
    splits = titanic.splits(0, 3)
    assert len(splits) == 3
    for train, test in splits:
        assert len(train) == len(test) == 60
        assert not set(train) & set(test)
        assert abs(titanic.y[train].mean() - titanic.y.mean()) < 0.02
    np.testing.assert_array_equal(titanic.splits(0, 2)[1][0], splits[1][0])
    assert set(titanic.splits(1000, 1)[0][0]) != set(splits[0][0])
    monkeypatch.setattr(data, "MOST_ROWS", 20)
    assert [len(rows) for rows in titanic.splits(0, 1)[0]] == [20, 20]


def test_missing_files_are_skipped_with_a_reason(folder, monkeypatch):
    found, skipped = load_noisy_sets(["sea", "adult"])
    assert [one.name for one in found] == ["sea"]
    assert skipped["adult"].startswith("needs mixed/adult.csv.gz in the folder named by LANN_DATA")
    assert str(folder) not in skipped["adult"]
    monkeypatch.delenv("LANN_DATA")
    assert load_noisy_sets(["sea"]) == (
        [],
        {"sea": "needs streams/sea.csv.gz in the folder named by LANN_DATA, which is not set."},
    )


def test_another_file_has_another_digest(folder, titanic):
    path = folder / "mixed" / "titanic.csv.gz"
    titanic.table.assign(target=titanic.y).iloc[1:].to_csv(path, index=False)
    assert load_noisy_sets(["titanic"])[0][0].digest != titanic.digest


@pytest.mark.data
@pytest.mark.skipif(not os.environ.get("LANN_DATA"), reason="needs the data files: set LANN_DATA")
def test_the_real_files_have_the_documented_rows():
    found, skipped = load_noisy_sets(SETS)
    if skipped:
        pytest.skip(f"not all files are here: {', '.join(skipped)}")
    rows = {one.name: (len(one.y), len(one.numeric), len(one.categorical)) for one in found}
    assert rows == {
        "adult": (48842, 6, 8),
        "bank-marketing": (45211, 7, 9),
        "titanic": (1309, 4, 3),
        "crx": (690, 6, 9),
        "heart-disease": (303, 6, 7),
        "eucalyptus": (736, 14, 5),
        "weather": (18159, 8, 0),
        "electricity": (45312, 8, 0),
        "sea": (50000, 3, 0),
        "rialto": (82250, 27, 0),
    }
    for one in found:
        ((train, test),) = one.splits(0, 1)
        assert len(train) == min(len(one.y) // 2, 4000)
        assert len(test) in (len(train), len(train) + 1)

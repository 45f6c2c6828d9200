import gzip
import json

import numpy as np
import pytest

from benchmarks.common.table_sets import TableSet, load_table_sets

TEXT = "age,class,port,target\n51,1,None,no\n,2,,yes\n48.5,1,NA,no\n"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "mixed").mkdir()
    (tmp_path / "mixed" / "ships.csv.gz").write_bytes(gzip.compress(TEXT.encode()))
    columns = {"ships": {"numeric": ["age"], "categorical": ["class", "port"]}}
    (tmp_path / "mixed" / "columns.json").write_text(json.dumps(columns))
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    return tmp_path / "mixed"


def load(name="ships"):
    return load_table_sets({name: "mixed"}, [name], TableSet)


def test_only_empty_cells_are_missing_and_categories_may_look_like_numbers(folder):
    (ships,), skipped = load()
    assert skipped == {}
    assert (ships.name, ships.numeric, ships.categorical) == ("ships", ["age"], ["class", "port"])
    assert ships.table["class"].tolist() == ["1", "2", "1"]
    assert ships.table["port"].tolist()[::2] == ["None", "NA"]
    assert ships.table.isna().to_numpy().tolist() == [[False] * 3, [True, False, True], [False] * 3]
    np.testing.assert_array_equal(ships.y, [0, 1, 0])


def test_columns_count_for_the_digest(folder):
    before = load()[0][0].digest
    columns = {"ships": {"numeric": ["age", "class"], "categorical": ["port"]}}
    (folder / "columns.json").write_text(json.dumps(columns))
    (ships,), _ = load()
    assert ships.table["class"].tolist() == [1.0, 2.0, 1.0]
    assert ships.digest != before


def test_without_a_list_all_columns_must_be_numbers(folder):
    (folder / "columns.json").unlink()
    with pytest.raises(ValueError, match="could not convert"):
        load()


def test_missing_files_are_skipped_with_a_reason(folder, monkeypatch):
    reason = "needs mixed/boats.csv.gz in the folder named by LANN_DATA, which"
    assert load("boats") == ([], {"boats": f"{reason} does not have it."})
    monkeypatch.delenv("LANN_DATA")
    assert load("boats") == ([], {"boats": f"{reason} is not set."})

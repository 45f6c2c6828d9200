import gzip

import numpy as np
import pytest

from lann.datasets.adrenal import read

CONTENT = b"cortisol,dhea,diagnosis\n1.5,2,ACA\n2.5,,ACC\n3.5,4,ACA\n"


def test_a_given_file_is_read(tmp_path):
    path = tmp_path / "steroids.csv"
    path.write_bytes(CONTENT)
    table = read(path=path)
    np.testing.assert_array_equal(table.data, [[1.5, 2], [2.5, np.nan], [3.5, 4]])
    assert table.target.tolist() == ["ACA", "ACC", "ACA"]
    assert table.target_names.tolist() == ["ACA", "ACC"]
    assert table.feature_names == ["cortisol", "dhea"]
    assert "3 rows, 2 features, 2 classes" in table.description


@pytest.mark.parametrize("place", ["tables", "tables/paper", "home/lann"])
@pytest.mark.parametrize("compress", [False, True])
def test_a_file_is_found_in_the_folders(tmp_path, monkeypatch, place, compress):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    folder = tmp_path / place
    folder.mkdir(parents=True)
    name, content = ("adrenal.csv.gz", gzip.compress(CONTENT)) if compress else ("adrenal.csv", CONTENT)
    (folder / name).write_bytes(content)
    assert read().data.shape == (3, 2)


def test_a_given_cache_is_searched(tmp_path):
    (tmp_path / "adrenal.csv").write_bytes(CONTENT)
    assert read(data_home=tmp_path).data.shape == (3, 2)


def test_without_a_file_the_error_says_that_the_data_are_not_public(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"patient data that is not public.*pass path=") as error:
        read()
    assert "LANN_DATA: not set" in str(error.value)
    assert str(tmp_path / "home" / "lann") in str(error.value)


def test_a_given_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        read(path=tmp_path / "nowhere.csv")


def test_a_truncated_file_is_called_damaged(tmp_path):
    path = tmp_path / "adrenal.csv.gz"
    path.write_bytes(gzip.compress(CONTENT)[:-12])
    with pytest.raises(ValueError, match="is damaged") as error:
        read(path=path)
    assert str(path) in str(error.value)

import gzip

import numpy as np
import pytest

from lann.datasets._adrenal import read_adrenal

CONTENT = b"cortisol,dhea,diagnosis\n1.5,2,ACA\n2.5,,ACC\n3.5,4,ACA\n"


def test_reads_the_given_file(tmp_path):
    path = tmp_path / "steroids.csv"
    path.write_bytes(CONTENT)
    table = read_adrenal(path=path)
    np.testing.assert_array_equal(table.data, [[1.5, 2], [2.5, np.nan], [3.5, 4]])
    assert table.target.tolist() == ["ACA", "ACC", "ACA"]
    assert table.target_names.tolist() == ["ACA", "ACC"]
    assert table.feature_names == ["cortisol", "dhea"]
    assert "3 rows, 2 features, 2 classes" in table.description


@pytest.mark.parametrize(
    ("file_name", "content"),
    [
        ("tables/adrenal.csv", CONTENT),
        ("tables/paper/adrenal.csv.gz", gzip.compress(CONTENT, mtime=0)),
        ("home/lann/adrenal.csv", CONTENT),
    ],
)
def test_finds_the_file_in_the_folders(tmp_path, monkeypatch, file_name, content):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    path = tmp_path / file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    assert read_adrenal().data.shape == (3, 2)


def test_finds_the_file_in_the_given_cache(tmp_path):
    (tmp_path / "adrenal.csv").write_bytes(CONTENT)
    assert read_adrenal(data_home=tmp_path).data.shape == (3, 2)


def test_error_without_a_file_says_that_the_data_are_not_public(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"patient data that is not public.*pass path=") as error:
        read_adrenal()
    assert "LANN_DATA: not set" in str(error.value)
    assert str(tmp_path / "home" / "lann") in str(error.value)


def test_error_names_the_given_file_if_it_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        read_adrenal(path=tmp_path / "nowhere.csv")


def test_truncated_file_raises(tmp_path):
    path = tmp_path / "adrenal.csv.gz"
    path.write_bytes(gzip.compress(CONTENT, mtime=0)[:-12])
    with pytest.raises(ValueError, match="is damaged") as error:
        read_adrenal(path=path)
    assert str(path) in str(error.value)

import numpy as np
import pandas as pd
import pytest

from lann.datasets import PAPER_SETS, load
from lann.datasets._specs import SPECS

WITHOUT_FILES = {
    "artificial-classification": (2000, 20),
    "breast-cancer": (569, 30),
    "digits": (1797, 64),
    "iris": (150, 4),
    "wine": (178, 13),
}
ENTRIES = {"data", "target", "feature_names", "target_names", "frame", "name", "DESCR"}


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_data_sets_without_files(name):
    bunch = load(name)
    assert set(bunch) >= ENTRIES
    assert bunch.name == name
    assert bunch.data.shape == WITHOUT_FILES[name]
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.shape == bunch.data.shape[:1]
    assert bunch.target.dtype.kind == "i"
    assert len(bunch.target_names) == len(np.unique(bunch.target))
    assert bunch.frame is None
    assert bunch.DESCR


def test_as_frame():
    bunch = load("wine", as_frame=True)
    assert list(bunch.data.columns) == bunch.feature_names
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(bunch.data.to_numpy(), load("wine").data)


def test_return_X_y():
    X, y = load("iris", return_X_y=True)
    assert X.shape == (150, 4)
    assert y.shape == (150,)
    frame, series = load("iris", return_X_y=True, as_frame=True)
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(series, pd.Series)


def test_artificial_data_set_has_the_roles_of_its_columns():
    roles = load("Artificial Classification").roles
    assert [len(columns) for columns in roles] == [2, 2, 16]


def test_every_name_has_a_reader():
    assert {*WITHOUT_FILES, *SPECS, "adrenal"} == set(PAPER_SETS)


def test_unknown_name_raises():
    with pytest.raises(ValueError, match="Did you mean 'wine'"):
        load("wines")


def test_download_from_openml_is_cached(serve, tmp_path):
    serve(SPECS["ionosphere"])
    bunch = load("Ionosphere", data_home=tmp_path)
    assert bunch.data.shape == (351, 34)
    assert bunch.data.flags.c_contiguous
    assert bunch.target_names.tolist() == ["b", "g"]
    assert bunch.target.dtype.kind == "U"
    assert (tmp_path / "ionosphere.csv.gz").is_file()
    frame = load("ionosphere", data_home=tmp_path, download_if_missing=False, as_frame=True).frame
    np.testing.assert_array_equal(frame.to_numpy()[:, :-1].astype(float), bunch.data)


def test_adrenal_reads_the_file_of_the_user(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b,kind\n1,2,x\n3,4,y\n")
    bunch = load("adrenal", path=path)
    assert bunch.name == "adrenal"
    assert bunch.data.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileNotFoundError, match="not public"):
        load("adrenal")


def test_path_for_another_data_set_raises(tmp_path):
    with pytest.raises(ValueError, match="only be given for the data set 'adrenal'; got 'iris'"):
        load("iris", path=tmp_path / "iris.csv")

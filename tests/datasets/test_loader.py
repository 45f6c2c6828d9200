import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import lann.datasets
from lann.datasets import PAPER_SETS, load
from lann.datasets.file_sets import FILE_SETS

WITHOUT_FILES = {
    "artificial-classification": (2000, 20),
    "breast-cancer": (569, 30),
    "digits": (1797, 64),
    "iris": (150, 4),
    "wine": (178, 13),
}
ENTRIES = {"data", "target", "feature_names", "target_names", "frame", "name", "DESCR"}


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_sets_without_files_load_as_arrays(name):
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


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_sets_without_files_load_as_frames(name):
    bunch = load(name, as_frame=True)
    assert list(bunch.data.columns) == bunch.feature_names
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    np.testing.assert_array_equal(bunch.data.to_numpy(), load(name).data)


def test_features_and_labels_alone():
    X, y = load("iris", return_X_y=True)
    assert X.shape == (150, 4)
    assert y.shape == (150,)
    frame, series = load("iris", return_X_y=True, as_frame=True)
    assert isinstance(frame, pd.DataFrame)
    assert isinstance(series, pd.Series)


def test_the_artificial_set_knows_its_roles():
    roles = load("Artificial Classification").roles
    assert [len(columns) for columns in roles] == [2, 2, 16]


def test_every_name_leads_somewhere():
    assert {*WITHOUT_FILES, *FILE_SETS, "adrenal"} == set(PAPER_SETS)


def test_an_unknown_name_is_an_error():
    with pytest.raises(ValueError, match="Did you mean 'wine'"):
        load("wines")


def test_a_set_from_openml(deliver, tmp_path):
    deliver(FILE_SETS["ionosphere"])
    bunch = load("Ionosphere", data_home=tmp_path)
    assert bunch.data.shape == (351, 34)
    assert bunch.data.flags.c_contiguous
    assert bunch.target_names.tolist() == ["b", "g"]
    assert bunch.target.dtype.kind == "U"
    assert (tmp_path / "ionosphere.csv.gz").is_file()
    frame = load("ionosphere", data_home=tmp_path, download_if_missing=False, as_frame=True).frame
    np.testing.assert_array_equal(frame.to_numpy()[:, :-1].astype(float), bunch.data)


def test_downloads_can_be_forbidden(openml):
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        load("letter", download_if_missing=False)
    assert openml.calls == []


def test_adrenal_takes_a_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("a,b,kind\n1,2,x\n3,4,y\n")
    bunch = load("adrenal", path=path)
    assert bunch.name == "adrenal"
    assert bunch.data.tolist() == [[1, 2], [3, 4]]
    with pytest.raises(FileNotFoundError, match="not public"):
        load("adrenal")


def test_a_path_is_for_adrenal_only(tmp_path):
    with pytest.raises(ValueError, match="'adrenal' only, not for 'iris'"):
        load("iris", path=tmp_path / "iris.csv")


@pytest.mark.data
@pytest.mark.parametrize("name", FILE_SETS)
def test_the_real_files_load(paper_files, name):
    bunch = load(name, download_if_missing=False)
    assert bunch.data.shape == (FILE_SETS[name].n_samples, len(bunch.feature_names))
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.dtype.kind == "U"


def test_the_public_names_exist():
    assert all(hasattr(lann.datasets, name) for name in lann.datasets.__all__)


def test_importing_stays_cheap():
    program = (
        "import sys, lann; before = set(sys.modules); import lann.datasets; "
        "print(*{'pandas', 'sklearn.datasets'} & (set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == ""

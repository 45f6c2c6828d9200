"""Loading data sets by name: those without files, files, the cache and OpenML."""

import gzip
import os
from types import SimpleNamespace
from urllib.error import URLError

import numpy as np
import pandas as pd
import pytest
import sklearn.datasets

from lann.datasets import PAPER_SETS, canonical_name, load
from lann.datasets._files import SPECS

# Read before the fixture below removes it.
DATA_FOLDER = os.environ.get("LANN_DATA")


@pytest.fixture(autouse=True)
def offline(monkeypatch, tmp_path):
    """Unset LANN_DATA, use an empty data home and make OpenML unreachable."""

    def unreachable(**kwargs):
        raise URLError("no network")

    monkeypatch.delenv("LANN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path / "home"))
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)


@pytest.fixture
def serve(monkeypatch):
    """Return a function that makes OpenML return random features for the labels of a data set."""

    def prepare(name, rename=str):
        spec, rng = SPECS[name], np.random.default_rng(0)
        labels = [rename(label) for label, size in spec.class_sizes.items() for _ in range(size)]
        values = rng.integers(0, 100, (len(labels), len(spec.columns))) / 7
        service = SimpleNamespace(calls=[])
        service.data = pd.DataFrame(values, columns=[f"V{column + 1}" for column in range(values.shape[1])])
        service.target = pd.Series(labels, dtype="category", name="Class")

        def fetch_openml(**kwargs):
            service.calls.append(kwargs["data_id"])
            return service

        monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
        return service

    return prepare


# Names


def test_case_and_separators_are_ignored():
    assert len(PAPER_SETS) == 14
    for name in PAPER_SETS:
        variants = [name.upper(), name.replace("-", "_"), name.replace("-", " ").title(), f" {name} "]
        assert {canonical_name(variant) for variant in variants} == {name}


@pytest.mark.parametrize("part", ["artificial", "gamma", "letter", "outdoor", "robot", "segment"])
def test_a_part_of_a_name_is_enough(part):
    assert part in canonical_name(part)


@pytest.mark.parametrize("name", ["ionosfere", "pen digit set", "i", ""])
def test_error_for_an_unknown_name_has_the_list(name):
    with pytest.raises(ValueError, match=f"Unknown data set '{name}'") as error:
        load(name)
    assert all(known in str(error.value) for known in PAPER_SETS)
    assert ("Did you mean 'ionosphere'?" in str(error.value)) == (name == "ionosfere")


# Data sets without files

WITHOUT_FILES = {
    "artificial-classification": (2000, 20),
    "breast-cancer": (569, 30),
    "digits": (1797, 64),
    "iris": (150, 4),
    "wine": (178, 13),
}


@pytest.mark.parametrize("name", WITHOUT_FILES)
def test_data_sets_without_files(name):
    bunch = load(name)
    assert bunch.name == name
    assert bunch.data.shape == WITHOUT_FILES[name]
    assert bunch.data.dtype == np.float64
    assert bunch.data.flags.c_contiguous
    assert bunch.target.dtype.kind == "i"
    assert len(bunch.target_names) == len(np.unique(bunch.target))
    assert bunch.frame is None
    assert bunch.DESCR


def test_as_frame_and_return_X_y():
    bunch = load("wine", as_frame=True)
    assert list(bunch.frame.columns) == [*bunch.feature_names, "target"]
    X, y = load("wine", return_X_y=True)
    np.testing.assert_array_equal(bunch.data.to_numpy(), X)
    np.testing.assert_array_equal(bunch.target, y)
    assert isinstance(load("wine", return_X_y=True, as_frame=True)[1], pd.Series)


# OpenML and the cache


@pytest.mark.parametrize(
    ("name", "rename"),
    [
        ("gamma-telescope", str),
        ("image-segmentation", str.lower),
        ("ionosphere", str),
        ("letter-recognition", str),
        ("pen-digits", str),
        ("robot-navigation", lambda label: str(1 + list(SPECS["robot-navigation"].class_sizes).index(label))),
        ("usps", lambda label: str(1 + int(label))),  # numbered from 1 by OpenML
    ],
)
def test_downloads_are_cached_with_the_names_of_the_files(serve, monkeypatch, tmp_path, name, rename):
    if name != "image-segmentation":  # the others take long
        monkeypatch.setitem(SPECS, name, SPECS[name]._replace(columns=["f0", "f1"]))
    spec, service = SPECS[name], serve(name, rename)
    first = load(name, data_home=tmp_path)
    second = load(name, data_home=tmp_path, download_if_missing=False)
    assert service.calls == [spec.openml_id]
    assert (tmp_path / f"{name}.csv.gz").is_file()
    labels = [label for label, size in spec.class_sizes.items() for _ in range(size)]
    kept = [column for column in spec.columns if column not in spec.dropped]
    expected = service.data.set_axis(spec.columns, axis=1)[kept]
    for bunch in (first, second):
        assert bunch.target.tolist() == labels
        assert bunch.feature_names == kept
        np.testing.assert_array_equal(bunch.data, expected)


def test_other_data_from_openml_raise(serve, tmp_path):
    service = serve("ionosphere")
    service.target[0] = "g"
    with pytest.raises(ValueError, match="OpenML data set 59 does not contain 'ionosphere'"):
        load("ionosphere", data_home=tmp_path)
    service.data = service.data.iloc[:, 1:]
    with pytest.raises(ValueError, match="does not contain 'ionosphere'"):
        load("ionosphere", data_home=tmp_path)
    assert not list(tmp_path.glob("*.gz"))


def test_a_damaged_file_of_the_cache_raises(serve, tmp_path):
    serve("ionosphere")
    load("ionosphere", data_home=tmp_path)
    path = tmp_path / "ionosphere.csv.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(ValueError, match=r"ionosphere\.csv\.gz is damaged"):
        load("ionosphere", data_home=tmp_path)


def test_the_error_lists_every_source_that_was_searched(tmp_path):
    with pytest.raises(FileNotFoundError, match="'ionosphere' was not found") as error:
        load("ionosphere")
    cache = tmp_path / "home" / "lann"
    for part in ("ionosphere.csv.gz", "LANN_DATA", str(cache), "59", "no network", "Sigillito"):
        assert part in str(error.value)
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        load("ionosphere", download_if_missing=False)
    with pytest.raises(FileNotFoundError, match="vlosing/driftDatasets"):
        load("outdoor-objects")


# The folder of the user


def test_files_of_the_user_are_verified(monkeypatch, tmp_path):
    (tmp_path / "ionosphere.csv.gz").write_bytes(b"altered")
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    with pytest.raises(ValueError, match="its SHA-256 is not 3aea07"):
        load("ionosphere")


CLASS_ROWS = {
    "gamma-telescope": (6688, 12332),
    "image-segmentation": (330, 330),
    "ionosphere": (126, 225),
    "letter-recognition": (734, 813),
    "outdoor-objects": (100, 100),
    "pen-digits": (1055, 1144),
    "robot-navigation": (328, 2205),
    "usps": (708, 1553),
}


@pytest.mark.data
@pytest.mark.skipif(not DATA_FOLDER, reason="needs the data files of the paper: set LANN_DATA")
@pytest.mark.parametrize("name", SPECS)
def test_real_files_have_the_sizes_of_the_paper(monkeypatch, name):
    monkeypatch.setenv("LANN_DATA", DATA_FOLDER)
    bunch = load(name, download_if_missing=False)
    assert np.isfinite(bunch.data).all()
    labels, rows = np.unique(bunch.target, return_counts=True)
    assert (rows.min(), rows.max()) == CLASS_ROWS[name]
    np.testing.assert_array_equal(labels, bunch.target_names)
    assert f"{len(bunch.data)} rows, {bunch.data.shape[1]} features" in bunch.DESCR


# The adrenal data

CONTENT = b"cortisol,dhea,diagnosis\n1.5,2,01\n2.5,,NA\nNA,0.30000000000000004,01\n"


@pytest.mark.parametrize(
    ("file_name", "content"),
    [
        ("tables/adrenal.csv", CONTENT),
        ("tables/paper/adrenal.csv.gz", gzip.compress(CONTENT, mtime=0)),
        ("home/lann/adrenal.csv", b"\xef\xbb\xbf" + CONTENT.replace(b"\n", b"\r\n")),
    ],
)
def test_the_adrenal_data_are_found_in_the_folders(tmp_path, monkeypatch, file_name, content):
    monkeypatch.setenv("LANN_DATA", str(tmp_path / "tables"))
    path = tmp_path / file_name
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    for bunch in (load("adrenal"), load("adrenal", path=path)):
        np.testing.assert_array_equal(bunch.data, [[1.5, 2], [2.5, np.nan], [np.nan, 0.30000000000000004]])
        assert bunch.target.tolist() == ["01", "NA", "01"]
        assert bunch.target_names.tolist() == ["01", "NA"]
        assert bunch.feature_names == ["cortisol", "dhea"]
        assert "3 rows, 2 features, 2 classes" in bunch.DESCR


def test_errors_without_the_adrenal_data(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"patient data that is not public[^$]*pass path=") as error:
        load("adrenal")
    assert str(tmp_path / "home" / "lann") in str(error.value)
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        load("adrenal", path=tmp_path / "nowhere.csv")
    with pytest.raises(ValueError, match="only be given for the data set 'adrenal'; got 'iris'"):
        load("iris", path=tmp_path / "iris.csv")


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"a;kind\n1;x\n",
        b"1.5,2,3\n3,4,5\n",
        b"target,kind\n1,x\n",
        b"a,kind\n",
        b"a,kind\n1,x\n2, \n",
        b"a,b,kind\n1,2,x\n1,2\n",
        b"a,kind\n1,x,extra\n2,y,extra\n",
        b"a,b,kind\n1,tall,x\n",
        b"\xff\xfea,kind\n",
    ],
)
def test_an_invalid_file_raises_with_its_name(tmp_path, content):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"table\.csv is damaged, or not a comma-separated table"):
        load("adrenal", path=path)

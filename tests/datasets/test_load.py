"""Loading data sets by name."""

from __future__ import annotations

import inspect
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import lann.datasets
from lann.datasets import PAPER_SETS, canonical_name, load, names
from lann.datasets._specs import SPECS


def test_names_are_the_fourteen_data_sets_in_alphabetical_order():
    assert len(names()) == 14
    assert names() == sorted(PAPER_SETS)


def test_case_and_separators_are_ignored():
    for name in PAPER_SETS:
        variants = [name.upper(), name.replace("-", "_"), name.replace("-", " ").title(), f" {name} "]
        assert {canonical_name(variant) for variant in variants} == {name}


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("artificial", "artificial-classification"),
        ("gamma", "gamma-telescope"),
        ("MagicTelescope", "gamma-telescope"),
        ("letter", "letter-recognition"),
        ("outdoor", "outdoor-objects"),
        ("wall-robot-navigation", "robot-navigation"),
        ("segment", "image-segmentation"),
    ],
)
def test_aliases(alias, name):
    assert canonical_name(alias) == name


def test_error_for_an_unknown_name_has_a_suggestion_and_the_list():
    with pytest.raises(
        ValueError, match=r"Unknown data set 'ionosfere'\. Did you mean 'ionosphere'\?"
    ) as error:
        canonical_name("ionosfere")
    assert all(name in str(error.value) for name in PAPER_SETS)


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


def test_path_for_another_data_set_raises(tmp_path):
    with pytest.raises(ValueError, match="only be given for the data set 'adrenal'; got 'iris'"):
        load("iris", path=tmp_path / "iris.csv")


FUNCTIONS = [name for name in lann.datasets.__all__ if inspect.isfunction(getattr(lann.datasets, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_with_its_type_and_every_function_has_an_example(name):
    function = getattr(lann.datasets, name)
    text = inspect.getdoc(function)
    assert all(f"{parameter} : " in text for parameter in inspect.signature(function).parameters)
    assert "Returns\n-------" in text
    assert ">>>" in text


def test_importing_the_package_loads_neither_pandas_nor_the_data_of_scikit_learn():
    program = (
        "import sys, lann.datasets; print(*{'pandas', 'sklearn.datasets', 'scipy.stats'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""

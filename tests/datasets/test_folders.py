from pathlib import Path

import pytest

from lann.datasets._folders import cache_folder, data_folders, searched_folders


@pytest.mark.parametrize("value", [None, ""])
def test_no_data_folders_without_the_variable(monkeypatch, value):
    if value is not None:
        monkeypatch.setenv("LANN_DATA", value)
    assert data_folders() == []


def test_sub_folder_comes_before_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert data_folders() == [tmp_path / "paper", tmp_path]


def test_tilde_is_expanded(monkeypatch):
    monkeypatch.setenv("LANN_DATA", "~/tables")
    assert data_folders()[1] == Path.home() / "tables"
    assert cache_folder("~/cache") == Path.home() / "cache"


def test_default_cache_is_in_the_data_home_of_scikit_learn(tmp_path):
    assert cache_folder() == tmp_path / "home" / "lann"


def test_given_cache_is_not_created(tmp_path):
    assert cache_folder(tmp_path / "mine") == tmp_path / "mine"
    assert not (tmp_path / "mine").exists()


def test_searched_folders_say_that_the_variable_is_not_set(tmp_path):
    assert searched_folders("a.csv", tmp_path) == ["LANN_DATA: not set", f"{tmp_path}: no a.csv"]


def test_searched_folders_are_in_the_order_of_the_search(monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", "/tables")
    folders = [line.split(":")[0] for line in searched_folders("a.csv", tmp_path)]
    assert folders == [str(Path("/tables/paper")), str(Path("/tables")), str(tmp_path)]

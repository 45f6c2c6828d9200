from pathlib import Path

from lann.datasets.folders import cache_folder, data_folders, searched


def test_without_the_variable_there_are_no_folders():
    assert data_folders() == []


def test_an_empty_variable_counts_as_not_set(monkeypatch):
    monkeypatch.setenv("LANN_DATA", "")
    assert data_folders() == []


def test_the_sub_folder_comes_before_the_folder(monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", str(tmp_path))
    assert data_folders() == [tmp_path / "paper", tmp_path]


def test_a_tilde_is_the_users_home(monkeypatch):
    monkeypatch.setenv("LANN_DATA", "~/tables")
    assert data_folders()[1] == Path.home() / "tables"
    assert cache_folder("~/kept") == Path.home() / "kept"


def test_the_cache_is_in_the_data_home_of_scikit_learn(tmp_path):
    assert cache_folder() == tmp_path / "home" / "lann"


def test_a_given_cache_is_taken_as_it_is_and_not_created(tmp_path):
    assert cache_folder(tmp_path / "mine") == tmp_path / "mine"
    assert not (tmp_path / "mine").exists()


def test_searched_places_say_that_the_variable_is_not_set(tmp_path):
    assert searched("a.csv", tmp_path) == ["LANN_DATA: not set", f"{tmp_path}: no a.csv"]


def test_searched_places_come_in_order(monkeypatch, tmp_path):
    monkeypatch.setenv("LANN_DATA", "/tables")
    folders = [place.split(":")[0] for place in searched("a.csv", tmp_path)]
    assert folders == [str(Path("/tables/paper")), str(Path("/tables")), str(tmp_path)]

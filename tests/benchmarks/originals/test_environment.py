import pytest

from benchmarks.originals import environment
from benchmarks.originals.environment import REQUIREMENTS, environment_variables, make_environment


def test_an_environment_with_these_versions_is_not_created_again(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(environment, "_call", lambda command, problem: commands.append(command))
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/installed.txt").write_text("numpy==1.0\n")
    make_environment(tmp_path)
    assert ["venv" in commands[0], "install" in commands[1]] == [True, True]
    assert (tmp_path / "environment/installed.txt").read_text() == REQUIREMENTS.read_text()
    make_environment(tmp_path)
    assert len(commands) == 2


def test_a_failed_installation_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(environment, "_base_python", lambda: "python-that-does-not-exist")
    with pytest.raises((ValueError, FileNotFoundError)):
        make_environment(tmp_path)
    assert not (tmp_path / "environment/installed.txt").exists()


def test_all_libraries_have_the_same_number_of_threads():
    variables = environment_variables(3)
    assert (variables["OMP_NUM_THREADS"], variables["OPENBLAS_NUM_THREADS"]) == ("3", "3")

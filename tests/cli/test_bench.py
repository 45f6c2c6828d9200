import json

import pytest
from typer.testing import CliRunner

from lann.bench import search_speed
from lann.cli.app import app


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(search_speed, "SIZES", ((300, 4, 3.0, 2.0),))
    monkeypatch.setattr(search_speed, "N_QUERIES", 40)


def run(*arguments):
    return CliRunner().invoke(app, ["bench", "speed", *map(str, arguments)])


def test_the_table_and_the_json_say_the_same(small, tmp_path):
    file = tmp_path / "speed.json"
    result = run("--only", "search", "--repeats", 1, "--jobs", 1, "--json", file)
    assert result.exit_code == 0
    figures = json.loads(file.read_text())
    assert len(figures) == 3
    assert {"method", "data_set", "mean", "std", "seconds", "target", "reached"} <= figures[0].keys()
    for figure in figures:
        assert f"{figure['ratio']:.2f}" in result.stdout
        assert f"{figure['target']:g}" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "nothing"), "There is no part 'nothing'; the parts are search,"),
        (("--only", "search", "--json", "no/such/folder/x.json"), "There is no folder"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said):
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1

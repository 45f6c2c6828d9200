"""Commands to run, a small table, and a model that is fitted to it."""

from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from lann.cli.commands import app


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture(scope="session")
def run():
    """Return a function that runs a command, which must succeed, and returns what it prints."""

    def run(*arguments) -> str:
        result = CliRunner(env={"COLUMNS": "160"}).invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


@pytest.fixture
def fails():
    """Return a function that runs a command, which must print one sentence and exit with code 2."""

    def fails(*arguments) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 2, result.output
        assert isinstance(result.exception, SystemExit)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].endswith((".", "?"))
        return lines[0]

    return fails


@pytest.fixture
def frame(make_table):
    return make_table()


@pytest.fixture
def csv(frame, tmp_path):
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture(scope="session")
def model(run, make_table, tmp_path_factory):
    """A model that `lann fit` has saved; the rows 2 and 3 have no label."""
    folder = tmp_path_factory.mktemp("model")
    frame = make_table()
    frame.loc[[2, 3], "group"] = np.nan
    frame.to_csv(folder / "data.csv", index=False)
    run("fit", folder / "data.csv", "--target", "group", "--id", "name", "--no-cv", "-o", folder / "m.lann")
    return folder / "m.lann"


@pytest.fixture
def new(make_table, tmp_path):
    """New rows without the target; some values are missing."""
    make_table(10).drop(columns="group").to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"

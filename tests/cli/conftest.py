"""A small table of every kind of column, and the commands to run on it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli import app


@pytest.fixture(autouse=True)
def wide_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")


@pytest.fixture
def run():
    """Run a command that must succeed; returns what it printed."""

    def run(*arguments) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, result.output
        return result.stdout

    return run


@pytest.fixture
def fails():
    """Run a command that must end with exit code 2 and one sentence; returns the sentence."""

    def fails(*arguments) -> str:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 2, result.output
        assert isinstance(result.exception, SystemExit)
        lines = result.stderr.splitlines()
        assert len(lines) == 1, result.stderr
        assert lines[0].endswith(".")
        return lines[0]

    return fails


def make_frame(n: int = 80, seed: int = 0) -> pd.DataFrame:
    """Numbers, words, yes and no, gaps; the class depends on the first two."""
    rng = np.random.default_rng(seed)
    size = rng.normal(170, 10, n).round(1)
    color = rng.choice(["red", "blue_ish", "green"], n)
    frame = pd.DataFrame(
        {
            "name": [f"p{row}" for row in range(n)],
            "size [cm]": size,
            "color": color,
            "member": rng.choice([True, False], n),
            "noise": rng.normal(size=n).round(3),
            "empty": np.nan,
            "constant": "x",
            "group": np.where((color == "red") | (size > 178), "in", "out"),
        }
    )
    frame.loc[3, "size [cm]"] = np.nan
    frame.loc[5, "color"] = np.nan
    return frame


@pytest.fixture
def frame() -> pd.DataFrame:
    return make_frame()


@pytest.fixture
def csv(frame, tmp_path) -> Path:
    frame.to_csv(tmp_path / "data.csv", index=False)
    return tmp_path / "data.csv"


@pytest.fixture(scope="session")
def model(tmp_path_factory) -> Path:
    """A model that `lann fit` wrote; its 3rd and 4th rows had no label."""
    folder = tmp_path_factory.mktemp("model")
    frame = make_frame()
    frame.loc[[2, 3], "group"] = np.nan
    frame.to_csv(folder / "data.csv", index=False)
    arguments = [
        "fit",
        folder / "data.csv",
        "--target",
        "group",
        "--id",
        "name",
        "--no-cv",
        "-o",
        folder / "m.skops",
    ]
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0, result.output
    return folder / "m.skops"


@pytest.fixture
def new(tmp_path) -> Path:
    """Rows to predict, with gaps and without the target."""
    make_frame(10, seed=0).drop(columns="group").to_csv(tmp_path / "new.csv", index=False)
    return tmp_path / "new.csv"

"""What a command reads is not overwritten, and special files end it with one sentence, or are read."""

import inspect
import os
import shutil

import pandas as pd
import pytest

from lann.cli.commands import INPUTS, OUTPUTS, app

pytestmark = pytest.mark.skipif(os.name != "posix", reason="links, pipes and devices of POSIX")


@pytest.fixture
def files(tmp_path, csv, model, monkeypatch):
    """A folder with a table and a model, under several names."""
    shutil.copy(model, tmp_path / "m.lann")
    for name in ("data.csv", "m.lann"):
        (tmp_path / f"link-{name}").symlink_to(name)
        os.link(tmp_path / name, tmp_path / f"hard-{name}")
    for ending in ("csv", "html"):
        (tmp_path / f"model.{ending}").symlink_to("m.lann")
    (tmp_path / "data.html").symlink_to("data.csv")
    (tmp_path / "page.html").write_text("a page")
    monkeypatch.chdir(tmp_path)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    yield tmp_path
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before
    assert all(path.is_symlink() for path in tmp_path.glob("link-*"))


@pytest.mark.parametrize(
    "command",
    [
        "fit data.csv --target group -o {}",
        "fit data.csv --target group -o {absolute}",
        "predict m.lann data.csv -o {}",
        "explain m.lann data.csv -o {}",
        "counterfactual m.lann data.csv -o {}",
        "evaluate m.lann data.csv -o {}",
        "suspects data.csv --target group -o {}",
        "embed data.csv --target group -o {}",
        "embed new.csv --target group --test data.csv -o e.csv -o {}",
        "stream data.csv -t group -o {}",
        "stream data.csv -t group --checkpoint {}",
        "stream link-data.csv -t group --checkpoint {}",
    ],
)
def test_the_table_is_not_overwritten(command, files, fails):
    name = "link-data.csv"
    arguments = command.format(name, absolute=files / name).split()
    assert "read: it cannot be written, too; give another file name." in fails(*arguments)


@pytest.mark.parametrize(
    "command",
    [
        "predict m.lann data.csv -o model.csv",
        "explain m.lann data.csv --html model.html",
        "explain m.lann data.csv --html data.html",
        "explain m.lann data.csv --html page.html --explorer page.html",
        "counterfactual m.lann data.csv -o model.csv",
        "evaluate m.lann data.csv --html model.html",
        "suspects --model m.lann -o model.csv",
        "embed --model m.lann -o e.png -o model.csv",
    ],
)
def test_models_and_pages_are_not_overwritten(command, files, fails):
    assert "which is read" in fails(*command.split()) or "page.html is read" in fails(*command.split())


@pytest.mark.parametrize(
    "command",
    [
        "embed data.csv --target group -o new.png -o ./new.png",
        "evaluate m.lann data.csv --html new.html -o {folder}/new.html",
        "stream data.csv -t group -o new.csv --checkpoint new.csv",
        "stream data.csv -t group --picture new.png --checkpoint new.png",
    ],
)
def test_two_files_are_not_one(command, files, fails):
    assert "are the same file; give different files" in fails(*command.format(folder=files).split())


def test_every_file_of_a_command_is_known():
    for command in app.registered_commands:
        for name, parameter in inspect.signature(command.callback).parameters.items():
            if "Path" in str(parameter.annotation):
                assert name in INPUTS + OUTPUTS, (command.callback.__name__, name)


def test_reports_are_safe_for_spreadsheets(frame, run, tmp_path):
    """Those that people look through, unless it is not wanted; and data if it is wanted."""
    frame["group"] = frame["group"].map({label: f"={label}" for label in frame["group"].unique()})
    frame.to_csv(tmp_path / "data.csv", index=False)
    model = tmp_path / "m.lann"
    run("fit", tmp_path / "data.csv", "--target", "group", "--no-cv", "-o", model)
    commands = {
        ("prediction", "="): ("predict", model, tmp_path / "data.csv"),
        ("likely", "'"): ("suspects", "--model", model),
    }
    for (column, default), given in commands.items():
        first = {}
        for options in ((), ("--spreadsheet-safe",), ("--no-spreadsheet-safe",)):
            run(*given, "-o", tmp_path / "out.csv", *options)
            first[options] = {text[0] for text in pd.read_csv(tmp_path / "out.csv")[column]}
        assert first == {(): {default}, ("--spreadsheet-safe",): {"'"}, ("--no-spreadsheet-safe",): {"="}}

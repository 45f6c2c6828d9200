"""What a command reads is not overwritten, and special files end it with one sentence, or are read."""

import inspect
import os
import shutil
import stat
import threading
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

from lann.cli import app
from lann.cli.files import INPUTS, OUTPUTS

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
        "embed new.csv --target group --test data.csv -o e.html -o {}",
        "stream data.csv -t group -o {}",
        "stream data.csv -t group --checkpoint {}",
        "stream link-data.csv -t group --checkpoint {}",
    ],
)
@pytest.mark.parametrize("name", ["data.csv", "./data.csv", "link-data.csv", "hard-data.csv"])
def test_the_table_is_not_overwritten(command, name, files, fails):
    arguments = command.format(name, absolute=files / name).split()
    assert "read: it cannot be written, too; give another file name." in fails(*arguments)


@pytest.mark.parametrize(
    "command",
    [
        "predict m.lann data.csv -o model.csv",
        "explain m.lann data.csv --html model.html",
        "explain m.lann data.csv --html data.html",
        "explain m.lann data.csv --html page.html --embedding page.html",
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
        "embed data.csv --target group -o new.html -o ./new.html",
        "evaluate m.lann data.csv --html new.html -o {folder}/new.html",
        "stream data.csv -t group -o new.csv --checkpoint new.csv",
        "stream data.csv -t group --picture new.png --checkpoint new.png",
    ],
)
def test_two_files_are_not_one(command, files, fails):
    assert "are the same file; give different names" in fails(*command.format(folder=files).split())


def test_every_file_of_a_command_is_known():
    for command in app.registered_commands:
        for name, parameter in inspect.signature(command.callback, eval_str=True).parameters.items():
            if "Path" in str(parameter.annotation):
                assert name in INPUTS + OUTPUTS, (command.callback.__name__, name)


def test_standard_input_is_not_overwritten(files, fails, monkeypatch):
    descriptor = os.open("data.csv", os.O_RDONLY)
    standard = os.dup(0)
    os.dup2(descriptor, 0)
    try:
        message = fails("fit", "-", "--target", "group", "-o", "link-data.csv")
    finally:
        os.dup2(standard, 0)
        os.close(standard)
        os.close(descriptor)
    assert message == "link-data.csv is read: it cannot be written, too; give another file name."


def test_standard_output_is_no_file(files, fails, tmp_path_factory):
    arguments = ("fit", "data.csv", "--target", "group", "-o")
    link = tmp_path_factory.mktemp("links") / "out"
    link.symlink_to("/dev/stdout")
    standard = os.dup(1)
    os.dup2(os.open("data.csv", os.O_WRONLY | os.O_APPEND), 1)
    try:
        messages = [fails(*arguments, name) for name in ("-", link, "hard-data.csv")]
    finally:
        os.dup2(standard, 1)
        os.close(standard)
    assert all("is standard output, where the command prints;" in message for message in messages)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("info /dev/zero", "/dev/zero is a device, not a model file; give the name of a file."),
        ("predict /dev/zero data.csv", "/dev/zero is a device, not a model file; give the name of a file."),
        ("explain pipe data.csv", "pipe is a pipe, not a model file; write its content to a file first."),
        ("evaluate . data.csv", ". is a folder, not a model file."),
        ("info empty", "empty cannot be loaded: it is not a whole file written by lann.save."),
        ("predict {model} /dev/zero", "/dev/zero is a device, not a file; give the name of a file."),
        ("fit /dev/null --target y", "/dev/null is a device, not a file; give the name of a file."),
        ("fit zero.csv --target y", "zero.csv is a device, not a file; give the name of a file."),
        ("stream zero.csv --target y", "zero.csv is a device, not a file; give the name of a file."),
        ("fit . --target y", ". is a folder, not a file."),
        ("fit empty.csv --target y", "empty.csv is empty."),
        ("fit loop.csv --target y", "loop.csv is a symbolic link that leads back to itself."),
        ("fit lost.csv --target y", "There is no file lost.csv: it is a link to a file that does not exist."),
        ("fit {data} --target y -o loop.csv", "loop.csv is a symbolic link that leads back to itself."),
    ],
)  # fmt: skip
def test_special_files_are_one_sentence(command, message, model, csv, fails, tmp_path, monkeypatch):
    folder = tmp_path / "special"
    folder.mkdir()
    monkeypatch.chdir(folder)
    os.mkfifo("pipe")
    for name, target in (("zero.csv", "/dev/zero"), ("loop.csv", "loop.csv"), ("lost.csv", "none.csv")):
        Path(name).symlink_to(target)
    for name in ("empty", "empty.csv"):
        Path(name).touch()
    assert fails(*command.format(model=model, data=csv).split()) == message


def test_a_table_comes_through_a_pipe(model, new, run, tmp_path):
    """Of a shell, whose name says nothing, and a named one, of which is said that it is waited for."""
    run("predict", model, new, "-o", tmp_path / "expected.csv")
    expected = pd.read_csv(tmp_path / "expected.csv")
    source, target = os.pipe()
    os.mkfifo(tmp_path / "rows.csv")
    content = new.read_bytes()
    writer = threading.Thread(target=(tmp_path / "rows.csv").write_bytes, args=(content,), daemon=True)
    writer.start()
    os.write(target, content)
    os.close(target)
    try:
        for path in (f"/dev/fd/{source}", tmp_path / "rows.csv"):
            found = CliRunner().invoke(
                app, ["predict", str(model), str(path), "-o", str(tmp_path / "out.csv")]
            )
            assert found.exit_code == 0, found.output
            assert pd.read_csv(tmp_path / "out.csv").equals(expected)
            waits = f"Reading {path}, a pipe, until nothing writes to it any more\n"
            assert found.stderr == (waits if path == tmp_path / "rows.csv" else "")
    finally:
        os.close(source)
    writer.join(60)


def test_predictions_go_through_a_pipe(model, new, run, tmp_path):
    run("predict", model, new, "-o", tmp_path / "expected.csv")
    os.mkfifo(tmp_path / "out.csv")
    found = []
    reader = threading.Thread(target=lambda: found.append((tmp_path / "out.csv").read_bytes()), daemon=True)
    reader.start()
    run("predict", model, new, "-o", tmp_path / "out.csv")
    reader.join(60)
    assert found == [(tmp_path / "expected.csv").read_bytes()]
    assert stat.S_ISFIFO(os.lstat(tmp_path / "out.csv").st_mode)


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

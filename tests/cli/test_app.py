from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

from packaging.version import Version

import lann
from lann.cli.commands import app

LARGE = {"faiss", "pandas", "sklearn", "matplotlib", "scipy", "rich"}
if Version(version("typer")) < Version("0.17"):
    LARGE.remove("rich")  # typer imports it itself


def run_in_process(*arguments, cwd) -> subprocess.CompletedProcess:
    """Run the command in a process of its own, as the installed script does."""
    code = "from lann.cli import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=cwd,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


def test_help_is_fast(in_new_process):
    """It imports none of the large packages."""
    loaded = in_new_process("import json, sys, lann.cli.commands; print(json.dumps(sorted(sys.modules)))")
    assert not LARGE & set(loaded)


def test_from_data_to_an_explanation(csv, new, tmp_path):
    fitted = run_in_process("fit", "data.csv", "--target", "group", "--no-cv", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "Saved model.lann" in fitted.stdout
    predicted = run_in_process("predict", "model.lann", "new.csv", "-o", "out.csv", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    explained = run_in_process("explain", "model.lann", "new.csv", "--row", 2, cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "with probability" in explained.stdout
    files = sorted(path.name for path in tmp_path.iterdir())
    assert files == ["data.csv", "model.lann", "new.csv", "out.csv"]
    assert not any(process.stderr for process in (fitted, predicted, explained))


def test_an_error_is_one_line(tmp_path):
    result = run_in_process("predict", "none.lann", "none.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "There is no file none.lann.\n"
    assert result.stdout == ""


def test_a_reader_that_ends_early_is_no_error(csv, model, tmp_path):
    """As `head` does."""
    code = "from lann.cli import main; main()"
    arguments = [sys.executable, "-c", code, "predict", str(model), str(csv), "--json"]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=tmp_path) as process:
        process.stdout.close()
        assert process.stderr.read() == b""


def test_help_and_version(run):
    for command in app.registered_commands:
        name = command.callback.__name__
        assert name in run("--help")
        assert "Usage" in run(name, "--help")
    assert run("--version") == f"lann {lann.__version__}\n"

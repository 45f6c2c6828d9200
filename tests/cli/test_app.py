from __future__ import annotations

import os
import subprocess
import sys
from importlib.metadata import version

from packaging.version import Version

import lann

LARGE = {"numba", "faiss", "pandas", "sklearn", "matplotlib", "scipy", "rich"}
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


def test_help_and_version(run):
    for name in (
        "demo",
        "fit",
        "evaluate",
        "info",
        "predict",
        "explain",
        "counterfactual",
        "embed",
        "suspects",
    ):
        assert name in run("--help")
        assert "Usage" in run(name, "--help")
    assert run("--version") == f"lann {lann.__version__}\n"


def test_help_is_fast(in_new_process):
    """It imports none of the large packages."""
    loaded = in_new_process("import json, sys, lann.cli.commands; print(json.dumps(sorted(sys.modules)))")
    assert not LARGE & set(loaded)


def complete(words, cwd) -> list[str]:
    """Return what a shell gets for the last of some words, and check that this is light."""
    code = (
        "import atexit, sys\n"
        f"atexit.register(lambda: print(sorted({LARGE!r} & set(sys.modules)), file=sys.stderr))\n"
        "sys.argv = ['lann']\n"
        "from lann.cli import main; main()"
    )
    settings = {"_LANN_COMPLETE": "complete_bash", "COMP_WORDS": " ".join(words)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=cwd,
        env=os.environ | settings | {"COMP_CWORD": str(len(words) - 1)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == "[]\n"
    return done.stdout.split()


def test_completion_is_light(tmp_path):
    assert complete(["lann", "ex"], tmp_path) == ["explain"]
    assert complete(["lann", "counterfactual", "--fro"], tmp_path) == ["--frozen"]
    assert "full" in complete(["lann", "fit", "--metric", ""], tmp_path)


def test_the_script_for_completion_is_shown(tmp_path):
    """The shell is given, as it need not be where it can be detected."""
    code = "import sys; sys.argv[0] = 'lann'; from lann.cli import main; main()"
    shown = subprocess.run(
        [sys.executable, "-c", code, "--show-completion", "bash"],
        cwd=tmp_path,
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "_LANN_COMPLETE=complete_bash" in shown.stdout


def test_from_data_to_an_explanation(csv, new, tmp_path):
    fitted = run_in_process("fit", "data.csv", "--target", "group", "--no-cv", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "Saved model.lann" in fitted.stdout
    predicted = run_in_process("predict", "model.lann", "new.csv", "-o", "out.csv", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    explained = run_in_process("explain", "model.lann", "new.csv", "--row", 2, cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "Predicted" in explained.stdout
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

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import lann

SCRIPT = Path(sys.executable).with_name("lann")


def lann_script(*arguments, cwd) -> subprocess.CompletedProcess:
    return subprocess.run(
        [SCRIPT, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, encoding="utf-8", check=False
    )


def test_help_and_version(run):
    for name in ("demo", "fit", "predict", "explain", "embed"):
        assert name in run("--help")
        assert "Usage" in run(name, "--help")
    assert run("--version") == f"lann {lann.__version__}\n"


def test_help_imports_nothing_heavy():
    code = "import sys, lann.cli; sys.exit(not {'numba', 'skops', 'faiss'}.isdisjoint(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_installed_script_goes_from_data_to_explanation(csv, new, tmp_path):
    fitted = lann_script("fit", "data.csv", "--target", "group", "--no-cv", cwd=tmp_path)
    assert fitted.returncode == 0, fitted.stderr
    assert "Saved model.skops" in fitted.stdout
    predicted = lann_script("predict", "model.skops", "new.csv", "-o", "out.csv", cwd=tmp_path)
    assert predicted.returncode == 0, predicted.stderr
    explained = lann_script("explain", "model.skops", "new.csv", "--row", 2, cwd=tmp_path)
    assert explained.returncode == 0, explained.stderr
    assert "Predicted" in explained.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "data.csv",
        "model.skops",
        "new.csv",
        "out.csv",
    ]


def test_the_installed_script_ends_errors_with_one_line(tmp_path):
    result = lann_script("predict", "none.skops", "none.csv", cwd=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "There is no file none.skops.\n"
    assert result.stdout == ""

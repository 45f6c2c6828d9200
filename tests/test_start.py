"""What is imported at first use: a command must not wait for modules that it does not need."""

import json
import subprocess
import sys

import pytest

from lann.tables import TableModel

REPORT = """
import sys
{code}
import json
print(json.dumps(sorted(sys.modules)), file=sys.stderr)
"""
# Third-party packages that take long to import.
HEAVY = {
    "jinja2",
    "joblib",
    "matplotlib",
    "narwhals",
    "numpy",
    "pandas",
    "pyarrow",
    "rich",
    "scipy",
    "sklearn",
    "umap",
}


def modules_after(code, folder="."):
    """Return the names of the modules that are imported by some code in a new process."""
    done = subprocess.run(
        [sys.executable, "-c", REPORT.format(code=code)],
        capture_output=True,
        text=True,
        cwd=folder,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stderr.splitlines()[-1]))


def modules_of_command(options, folder):
    code = f"from lann.cli.commands import app; app({options.split()!r}, standalone_mode=False)"
    return modules_after(code, folder)


def own(modules):
    return {name for name in modules if name.split(".")[0] == "lann"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    from sklearn.datasets import load_iris

    folder = tmp_path_factory.mktemp("start")
    frame = load_iris(as_frame=True).frame
    frame.to_csv(folder / "iris.csv", index=False)
    TableModel.fit(frame, "target").save(folder / "iris.lann")
    return folder


def test_import_lann_alone():
    modules = modules_after("import lann")
    assert own(modules) == {"lann"}
    assert not modules & HEAVY


def test_names_of_the_package():
    import lann

    names = {name for name in dir(lann) if not name.startswith("_")}
    assert set(lann.__all__) <= names
    assert all(name in lann.__all__ or f"lann.{name}" in sys.modules for name in names)


@pytest.mark.parametrize("code", ["import lann; lann.LANNClassifier()", "import lann.streams"])
def test_estimators_import_no_extra(code):
    modules = modules_after(code)
    assert not modules & {"faiss", "matplotlib", "numba", "river", "umap"}


def test_info_reads_no_model(folder):
    modules = modules_of_command("info iris.lann", folder)
    assert own(modules) <= {
        "lann", "lann.persist", "lann.persist._archive", "lann.persist._fields", "lann.persist._info",
        *(name for name in modules if name.startswith(("lann.cli", "lann._markup", "lann._support"))),
    }  # fmt: skip
    assert not modules & (HEAVY - {"jinja2", "numpy", "rich"})


@pytest.mark.parametrize("options", ["predict iris.lann iris.csv", "explain iris.lann iris.csv --row 3"])
def test_a_prediction_imports_no_other_method(options, folder):
    modules = modules_of_command(options, folder)
    others = ("baselines", "datasets", "distributed", "embedding", "plot", "reject", "report")
    assert not modules & {f"lann.{name}" for name in others}
    assert not modules & {"matplotlib", "umap", "sklearn.pipeline", "sklearn.linear_model"}

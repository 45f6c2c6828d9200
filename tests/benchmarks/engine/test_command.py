import importlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import benchmarks
from benchmarks.engine import command as module
from benchmarks.engine.command import benchmark_names, load_benchmark

ROOT = Path(__file__).parents[3]


@pytest.fixture
def bench(command, toy, monkeypatch):
    """Run the small benchmark from the command line."""
    monkeypatch.setattr(module, "load_benchmark", lambda name: toy)
    monkeypatch.setattr(module, "_summary", lambda name: "A test.")
    return lambda *arguments: command("toy", *arguments)


def test_tables_and_files_have_the_same_figures(bench, tmp_path):
    done = bench("--only", "first", "--json", tmp_path / "t.json", "--markdown", tmp_path / "t.md")
    assert done.code == 0
    figures = [r for r in json.loads((tmp_path / "t.json").read_text()) if r["kind"] == "figure"]
    document = (tmp_path / "t.md").read_text()
    assert [figure["method"] for figure in figures] == ["a", "b"]
    for figure in figures:
        assert f"{figure['method']}      {figure['mean']:.3f}" in done.stdout
        assert f"| {figure['method']} | {figure['mean']:.3f} |" in document
    assert f"Wrote {tmp_path / 't.json'}\n" in done.stdout
    assert "a on x, split 3: accuracy 0.7" in done.stderr


def test_measurements_are_stored_in_the_data_home_or_in_a_given_folder(bench, toy, tmp_path):
    first = bench()
    again = bench()
    assert toy.n_runs == 12
    assert again.stdout == first.stdout
    assert "12 measurements of earlier runs are reused" in again.stderr
    assert (tmp_path / "data-home/lann/benchmarks/toy/full/first/a/x.json").exists()
    bench("--quick")
    assert toy.n_runs == 14
    bench("--results", tmp_path / "other", "--only", "first")
    assert toy.n_runs == 20


def test_an_interrupted_run_shows_what_was_measured_and_writes_nothing(bench, toy, tmp_path):
    toy.failing = KeyboardInterrupt()
    done = bench("--only", "first", "--json", tmp_path / "t.json")
    assert done.code == 130
    assert "b      0.500" in done.stdout
    assert done.stdout.rstrip().endswith("Measurements are stored: the same command resumes the run.")
    assert not (tmp_path / "t.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--only", "all"), "There is no part 'all'; the parts are first, slow."),
        (("--json", "no/such/folder/x.json"), "There is no folder"),
        (("--markdown", "."), ". is a folder; give the name of a file to write."),
        (("--jobs", "0"), "--jobs must be at least 1; got 0."),
    ],
)
def test_wrong_input_is_one_sentence(bench, toy, arguments, message):
    done = bench(*arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1
    assert toy.n_runs == 0


def test_an_unknown_benchmark_is_one_sentence(command):
    done = command("unknown")
    assert done.code == 2
    assert done.stderr.startswith("There is no benchmark 'unknown'; the benchmarks are embeddings,")


@pytest.mark.parametrize("name", benchmark_names())
def test_every_benchmark_is_defined_and_described(name):
    definition = load_benchmark(name)
    assert definition.name == name
    assert set(definition.slow_parts) < set(definition.parts) <= set(definition.main_scores)
    summary = importlib.import_module(f"benchmarks.{name}").__doc__
    assert len(f"  explanations  {summary}") <= 80


def test_the_module_lists_the_benchmarks_without_importing_them():
    code = (
        "import sys; from benchmarks.engine.command import main; main(['--list']); "
        "sys.exit('sklearn' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for name in benchmark_names():
        assert f"  {name} " in done.stdout


def test_the_definition_in_the_readme_works(command, tmp_path, monkeypatch):
    text = (ROOT / "benchmarks/README.md").read_text()
    folder = tmp_path / "example"
    folder.mkdir()
    (folder / "__init__.py").write_text('"""An example."""\n')
    (folder / "benchmark.py").write_text(text.partition("```python\n")[2].partition("```")[0])
    monkeypatch.setattr(benchmarks, "__path__", [*benchmarks.__path__, str(tmp_path)])
    done = command("example", "--quick", "--splits", 1)
    for name in [name for name in sys.modules if name.startswith("benchmarks.example")]:
        monkeypatch.delitem(sys.modules, name)
    assert done.code == 0, done.stderr
    assert "accuracy" in done.stdout
    assert "lann: at least as accurate as knn" in " ".join(done.stdout.split())


@pytest.mark.parametrize(("name", "policy"), [("paper", "passive"), ("speed", None)])
def test_threads_wait_passively_except_where_other_libraries_are_timed(monkeypatch, name, policy):
    monkeypatch.setenv("OMP_WAIT_POLICY", "restored after the test")
    del os.environ["OMP_WAIT_POLICY"]
    load_benchmark(name)
    assert os.environ.get("OMP_WAIT_POLICY") == policy

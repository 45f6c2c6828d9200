import json

import pytest
from typer.testing import CliRunner

from lann.bench.embeddings import run as runs
from lann.bench.embeddings import task
from lann.bench.embeddings.task import Sizes, make_task
from lann.cli.app import app

TINY = Sizes(n_seeds=1, n_licorice=100, n_segmentation=100)


@pytest.fixture(autouse=True)
def small(monkeypatch):
    def quick_task(*arguments):
        made = make_task(*arguments)
        for classifier in (made.classifier, *made.others.values()):
            classifier.set_params(max_iter=1)
        return made

    monkeypatch.setattr(task, "QUICK", TINY)
    monkeypatch.setattr(runs, "make_task", quick_task)
    monkeypatch.setattr(runs, "missing", lambda part: "No file." if part == "segmentation" else None)


def bench(*arguments):
    return CliRunner().invoke(app, ["bench", "embeddings", "--quick", "--jobs", "1", *map(str, arguments)])


def test_tables_json_and_markdown_say_the_same(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    chosen = ["--only", "licorice-any", "--only", "segmentation", "--seeds", 2]
    result = bench(*chosen, "--json", tmp_path / "e.json", "--markdown", tmp_path / "e.md")
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "e.json").read_text())
    document = (tmp_path / "e.md").read_text()
    assert {record["kind"] for record in made} == {"figure", "comparison", "skipped", "check"}
    figures = [record for record in made if record["kind"] == "figure"]
    assert {record["data_set"] for record in figures} == {"licorice-any"}
    for record in figures:
        assert record["n_seeds"] == 2
        if record["figure"] == "held_out_accuracy":
            shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
            assert shown in result.stdout
            assert shown in document
    for check in (record for record in made if record["kind"] == "check"):
        assert result.stdout.count(check["status"]) >= 1
    # Each measurement is told as it comes.
    assert "all methods on licorice-any, seed 1: LANN" in result.stderr
    tables = result.stdout.partition("Wrote")[0]
    assert max(map(len, tables.splitlines())) <= 80


def test_ctrl_c_shows_what_is_there(monkeypatch):
    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(runs, "measure_task", interrupted)
    result = bench("--only", "licorice")
    assert result.exit_code == 130
    assert "Interrupted" in result.stdout
    assert "not measured" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--only", "all"), "There is no part 'all' with --quick; the parts are licorice,"),
        (("--only", "cost"), "There is no part 'cost' with --quick; the parts are licorice,"),
        (("--json", "no/such/folder/x.json"), "There is no folder"),
        (("--markdown", "no/such/folder/x.md"), "There is no folder"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said):
    result = bench(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


def test_without_umap_it_says_what_to_install(monkeypatch):
    def refuse():
        raise ImportError("Embeddings need umap-learn: pip install 'lann[embed]'.")

    monkeypatch.setattr(runs, "warm_up", refuse)
    result = bench()
    assert result.exit_code == 2
    assert result.stderr == "Embeddings need umap-learn: pip install 'lann[embed]'.\n"

import json

import pytest
from typer.testing import CliRunner

from lann.bench import methods
from lann.bench.explanations import task
from lann.bench.explanations.task import Sizes
from lann.bench.methods import Method
from lann.classifier import LANNClassifier
from lann.cli.app import app

TINY = Sizes(
    n_seeds=1, n_features=(8,), n_train=100, n_test=20,
    rows=(("all", 20), ("some", 4), ("few", 2)), nudged_rows=(("all", 5), ("some", 2), ("few", 1)),
    n_permutations=1, permuted_train=60, permuted_test=10,
    real_sets=("iris",), real_splits=1, real_rows=10,
    timed_features=(8,), timed_rows=20, timed_turns=1, kernel_rows=1,
)  # fmt: skip


@pytest.fixture(autouse=True)
def small(monkeypatch):
    methods.all_methods()
    quick = Method(
        "lann",
        "LANN",
        lambda n_jobs, seed: LANNClassifier(max_iter=2, random_state=seed),
        "A test.",
        "tests",
    )
    monkeypatch.setattr(methods, "_registry", {**methods._registry, "lann": quick})
    monkeypatch.setattr(task, "QUICK", TINY)


def bench(*arguments):
    return CliRunner().invoke(app, ["bench", "explanations", "--quick", "--jobs", "1", *map(str, arguments)])


def test_tables_json_and_markdown_say_the_same(tmp_path):
    chosen = ["--method", "lann", "--method", "permutation-lann", "--seeds", 2]
    result = bench(*chosen, "--json", tmp_path / "e.json", "--markdown", tmp_path / "e.md")
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "e.json").read_text())
    document = (tmp_path / "e.md").read_text()
    figures = [record for record in made if record["kind"] == "figure"]
    assert [record["method"] for record in figures] == ["lann", "permutation-lann"]
    for record in figures:
        shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
        assert shown in result.stdout
        assert shown in document
        assert record["n_seeds"] == 2
    assert {record["kind"] for record in made} == {
        "figure", "model", "permuted", "deletion", "cost", "check"
    }  # fmt: skip
    for check in (record for record in made if record["kind"] == "check"):
        assert result.stdout.count(check["status"]) >= 1
    # Each measurement is told as it comes.
    assert "lann on planted, 8 features, seed 1: AUC" in result.stderr
    assert "lann on iris, split 1: change" in result.stderr


def test_one_part_alone(tmp_path):
    result = bench("--method", "lann", "--only", "real", "--json", tmp_path / "e.json")
    assert result.exit_code == 0, result.output
    made = json.loads((tmp_path / "e.json").read_text())
    assert {record["kind"] for record in made} == {"deletion", "check"}
    assert result.stdout.count("not measured") == 9


def test_ctrl_c_shows_what_is_there(monkeypatch):
    from lann.bench.explanations import run

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(run, "permuted_auc", interrupted)
    result = bench("--method", "lann")
    assert result.exit_code == 130
    assert "Interrupted" in result.stdout
    assert "ms/row" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "oracle"), "There is no method 'oracle'; the methods are lann,"),
        (("--only", "all"), "There is no part 'all'; the parts are planted,"),
        (("--json", "no/such/folder/x.json"), "There is no folder"),
        (("--markdown", "no/such/folder/x.md"), "There is no folder"),
    ],
)
def test_wrong_input_is_one_sentence(arguments, said):
    result = bench(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1


def test_the_tables_fit_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = bench("--method", "lann")
    assert max(map(len, result.stdout.splitlines())) <= 80

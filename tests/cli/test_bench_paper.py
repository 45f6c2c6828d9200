import json

import pytest
from sklearn.neighbors import KNeighborsClassifier
from typer.testing import CliRunner

from lann.bench import methods
from lann.bench.methods import Method
from lann.bench.paper_tables import Grid, Row
from lann.cli.app import app
from lann.cli.paper_show import blocks


class Obstinate(KNeighborsClassifier):
    """Does what `then` says at its second fit that is not the warm-up."""

    fits = 0
    then: BaseException | None = None

    def fit(self, X, y):
        if len(X) != 150:
            Obstinate.fits += 1
            if Obstinate.then is not None and Obstinate.fits == 2:
                raise Obstinate.then
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def obstinate(monkeypatch):
    methods.all_methods()
    method = Method("obstinate", "obstinate", lambda n_jobs, seed: Obstinate(), "A test.", "tests")
    monkeypatch.setattr(methods, "_registry", {**methods._registry, "obstinate": method})
    monkeypatch.setattr(Obstinate, "fits", 0)
    monkeypatch.setattr(Obstinate, "then", None)


@pytest.fixture
def bench(tmp_path):
    """Run two methods on iris and wine, two splits, with results in a folder of the test's."""

    def bench(*arguments):
        chosen = ["--method", "knn", "--method", "obstinate", "--data", "iris", "--data", "wine"]
        options = ["--splits", 2, "--jobs", 1, "--results", tmp_path / "kept", *arguments]
        return CliRunner().invoke(app, ["bench", "paper", *chosen, *map(str, options)])

    return bench


def test_tables_json_and_markdown_say_the_same(bench, tmp_path):
    result = bench("--json", tmp_path / "paper.json", "--markdown", tmp_path / "paper.md", "--details")
    assert result.exit_code == 0, result.output
    assert Obstinate.fits == 4
    made = json.loads((tmp_path / "paper.json").read_text())
    figures = [record for record in made if record["kind"] == "figure"]
    assert {(record["method"], record["data_set"]) for record in figures} == {
        (method, name) for method in ("knn", "obstinate") for name in ("iris", "wine")
    }
    document = (tmp_path / "paper.md").read_text()
    for record in figures:
        shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
        assert shown in result.stdout
        assert shown in document
        assert 0.8 < record["mean"] < 1
        assert record["n_splits"] == 2
    assert "2 of 10 splits, seed 0: trained on 25 %" in result.stdout
    statuses = [record["status"] for record in made if record["kind"] == "check"]
    assert len(statuses) == 9
    assert statuses.count("not measured") == result.stdout.count("not measured") >= 8


def test_a_second_run_takes_what_is_kept_and_a_fresh_one_does_not(bench):
    first = bench()
    again = bench()
    assert Obstinate.fits == 4
    assert again.stdout == first.stdout
    bench("--fresh")
    assert Obstinate.fits == 8
    bench("--seed", 1000)
    assert Obstinate.fits == 12


def test_ctrl_c_shows_what_is_there_and_how_to_go_on(bench, tmp_path):
    Obstinate.then = KeyboardInterrupt()
    result = bench("--json", tmp_path / "paper.json")
    assert result.exit_code == 130
    assert "Not all splits have been measured yet" in result.stdout
    assert result.stdout.rstrip().endswith("run the same command again to go on.")
    assert not (tmp_path / "paper.json").exists()  # half the figures are not for programs
    Obstinate.then = None
    assert bench("--json", tmp_path / "paper.json").exit_code == 0
    assert Obstinate.fits == 5  # the one interrupted, and four that went well
    assert (tmp_path / "paper.json").exists()


def test_a_method_that_fails_is_shown_with_its_sentence(bench):
    Obstinate.then = ValueError("I will not.")
    result = bench("--details")
    assert result.exit_code == 0
    assert "failed: I will not." in result.stdout
    assert "obstinate failed on " in result.stdout
    assert " fail" in result.stdout


def test_cross_validation_has_no_checks(bench):
    result = bench("--protocol", "cv")
    assert "10-fold" in result.stdout
    assert "not measured" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--method", "oracle"), "There is no method 'oracle'; the methods are knn,"),
        (("--data", "roses"), "Unknown data set 'roses'."),
        (("--protocol", "loo"), "There is no protocol 'loo'; the protocols are paper, cv."),
        (("--json", "no/such/folder/x.json"), "There is no folder"),
        (("--markdown", "no/such/folder/x.md"), "There is no folder"),
    ],
)
def test_wrong_input_is_one_sentence(bench, arguments, said):
    result = bench(*arguments)
    assert result.exit_code == 2
    assert result.stderr.startswith(said)
    assert result.stderr.count("\n") == 1
    assert Obstinate.fits == 0


def test_no_data_at_all_is_one_sentence(fails, monkeypatch, tmp_path):
    monkeypatch.delenv("LANN_DATA", raising=False)
    monkeypatch.setenv("SCIKIT_LEARN_DATA", str(tmp_path))
    said = fails("bench", "paper", "--data", "adrenal")
    assert said.startswith("No data set could be loaded: The data set 'adrenal' is patient data")


@pytest.mark.parametrize("width", [24, 80, 100, 120])
@pytest.mark.parametrize("n_columns", [1, 6, 14])
def test_columns_are_dealt_into_blocks_that_fit(width, n_columns):
    grid = Grid(
        "t", ("method", *["letter"] * n_columns), [("", [Row("lann-point-only", (".954",) * n_columns)])]
    )
    dealt = blocks(grid, width)
    assert [column for block in dealt for column in block] == list(range(n_columns))
    assert all(15 + 7 * len(block) <= width for block in dealt)
    assert len(dealt) == -(-n_columns // ((width - 15) // 7))


def test_the_table_fits_the_terminal(bench, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = bench("--details")
    assert max(map(len, result.stdout.splitlines())) <= 80

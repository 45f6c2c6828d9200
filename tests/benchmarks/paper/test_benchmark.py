import json

import pytest
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common import methods
from benchmarks.common.methods import METHODS, Method
from benchmarks.paper.benchmark import Paper, PaperOptions

PAIR = ("--method", "knn", "--method", "counting", "--data", "iris", "--data", "wine")


class CountingKNN(KNeighborsClassifier):
    """Counts its fits, those of the warm-up on all of iris excepted."""

    fits = 0

    def fit(self, X, y):
        CountingKNN.fits += len(X) != 150
        return super().fit(X, y)


@pytest.fixture(autouse=True)
def counting(monkeypatch):
    method = Method("counting", "Counting", lambda n_jobs, seed: CountingKNN(), "A test.", "tests")
    monkeypatch.setattr(methods, "METHODS", [*METHODS, method])
    monkeypatch.setattr(CountingKNN, "fits", 0)


def test_every_method_has_its_first_split_before_any_has_its_second():
    options = PaperOptions(method=("knn", "counting"), data=("iris", "wine"), splits=2)
    jobs = [(job.repeat, job.data_set, job.method) for job in Paper(options).jobs()]
    first = [("wine", "knn"), ("wine", "counting"), ("iris", "knn"), ("iris", "counting")]
    assert jobs == [(split, *cell) for split in (0, 1) for cell in first]


def test_the_figures_are_the_same_in_all_outputs(command, tmp_path):
    files = ("--json", tmp_path / "p.json", "--markdown", tmp_path / "p.md")
    done = command("paper", *PAIR, "--splits", 2, "--jobs", 1, "--details", *files)
    assert done.code == 0, done.stderr
    assert CountingKNN.fits == 4
    records = json.loads((tmp_path / "p.json").read_text())
    figures = [record for record in records if record["kind"] == "figure"]
    document = (tmp_path / "p.md").read_text()
    assert {(record["method"], record["data_set"]) for record in figures} == {
        (method, name) for method in ("knn", "counting") for name in ("iris", "wine")
    }
    for record in figures:
        shown = f"{record['mean']:.3f} ± {record['std']:.3f}".replace("0.", ".")
        assert shown in done.stdout
        assert shown in document
        assert 0.8 < record["mean"] < 1
        assert record["n_repeats"] == 2
    assert "2 of 10 splits, seed 0: trained on 25 %" in done.stdout
    assert len([record for record in records if record["kind"] == "check"]) == 12
    assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Wrote")) <= 80


def test_only_what_is_missing_is_measured(command):
    def bench(*arguments):
        return command("paper", *PAIR, "--jobs", 1, *arguments)

    bench("--splits", 1)
    bench("--splits", 2)
    assert CountingKNN.fits == 4
    bench("--splits", 2, "--quick")
    assert CountingKNN.fits == 4
    bench("--splits", 1, "--seed", 1000)
    bench("--splits", 1, "--protocol", "cv")
    assert CountingKNN.fits == 8
    bench("--splits", 1, "--fresh")
    assert CountingKNN.fits == 10


def test_cross_validation_has_no_checks(command):
    done = command("paper", *PAIR, "--splits", 1, "--protocol", "cv")
    assert "10-fold" in done.stdout
    assert "\nchecks " not in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "unknown"), "There is no method 'unknown'; the methods are knn,"),
        (("--data", "roses"), "Unknown data set 'roses'."),
        (("--protocol", "loo"), "There is no protocol 'loo'; the protocols are paper, cv."),
        (("--data", "adrenal"), "No data set could be loaded: The data set 'adrenal' is patient data"),
    ],
)
def test_wrong_input_is_one_sentence(command, monkeypatch, arguments, message):
    monkeypatch.delenv("LANN_DATA", raising=False)
    done = command("paper", *arguments)
    assert done.code == 2
    assert done.stderr.startswith(message)
    assert done.stderr.count("\n") == 1

import json

import pytest

from benchmarks.engine import Options, Report, check
from benchmarks.engine.records import make_records

CELL = ("first", "a", "x")
OTHER = {"loss": None, "aucs": [1.0], "unit": "×", "reached": True}


@pytest.fixture
def records(toy, results_of):
    results = results_of(
        {
            CELL: [
                {"accuracy": 0.5, "fit_seconds": 1.0, **OTHER},
                {"accuracy": 0.7, "fit_seconds": 3.0, **OTHER},
            ],
            ("first", "b", "x"): [{"accuracy": 0.4}],
        },
        failures={("first", "b", "x"): "Singular matrix."},
        skipped={"y": "No file."},
    )
    report = Report(
        "Toy",
        "A test.",
        [],
        [check("a: enough", True, "0.6")],
        figure_fields={CELL: {"published": 0.6}},
        records=[{"kind": "mean", "mean": 0.6}],
    )
    made = make_records(toy(Options(quick=True)), results, report)
    return {record["kind"]: record for record in json.loads(json.dumps(made, allow_nan=False))}


def test_a_figure_has_means_of_all_scores(records):
    figure = records["figure"]
    assert (figure["part"], figure["method"], figure["data_set"]) == CELL
    assert (figure["score"], figure["mean"], figure["n_repeats"]) == ("accuracy", pytest.approx(0.6), 2)
    assert figure["std"] == pytest.approx(0.2 / 2**0.5)
    assert figure["seconds"] == 2.0
    assert figure["values"] == {"0": 0.5, "1": 0.7}
    assert set(figure["scores"]) == {"accuracy", "fit_seconds"}
    assert (figure["unit"], figure["reached"], figure["published"]) == ("×", True, 0.6)


def test_the_other_kinds(records):
    assert records["run"]["benchmark"] == "toy"
    assert records["run"]["options"] == {"only": [], "quick": True, "n_jobs": 2}
    assert records["failure"]["reason"] == "Singular matrix."
    assert records["skipped"] == {"kind": "skipped", "name": "y", "reason": "No file."}
    assert records["check"]["status"] == "ok"
    assert records["mean"]["mean"] == 0.6

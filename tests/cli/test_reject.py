"""--reject-cost, --coverage and --risk of `lann predict` and `lann explain`."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from lann.tables import TableModel, read_table


@pytest.fixture(scope="module")
def files(run, tmp_path_factory):
    """A model of `lann fit` with its cross-validation, and test rows of which one is far."""
    folder = tmp_path_factory.mktemp("reject")
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(330, 3)), columns=["a", "b", "c"]).round(4)
    flipped = (frame["a"].abs() < 0.5) & (rng.random(330) < 0.4)
    frame["side"] = np.where((frame["a"] > 0) ^ flipped, "right", "left")
    frame.loc[329, "b"] = 1000.0
    frame[:250].to_csv(folder / "train.csv", index=False)
    frame[250:].to_csv(folder / "test.csv", index=False)
    run("fit", folder / "train.csv", "--target", "side", "--folds", "3", "-o", folder / "m.lann")
    return folder / "m.lann", folder / "test.csv"


@pytest.mark.parametrize(
    ("option", "target"), [("--reject-cost", "cost"), ("--coverage", "coverage"), ("--risk", "risk")]
)
def test_the_column_is_that_of_the_library(option, target, run, files, tmp_path):
    value = {"cost": 0.1, "coverage": 0.8, "risk": 0.05}[target]
    printed = run("predict", *files, option, value, "-o", tmp_path / "p.csv")
    found = pd.read_csv(tmp_path / "p.csv")
    model = TableModel.load(files[0])
    reject = model.reject_option(**{target: value})
    expected = model.predict(read_table(files[1]), reject=reject)
    assert found.columns.tolist() == expected.columns.tolist()
    assert found["decision"].tolist() == expected["decision"].tolist()
    assert found["prediction"].isin(["left", "right"]).all()
    counts = found["decision"].value_counts()
    assert counts["far"] >= 1
    assert f"Accepted {counts['accepted']} of 80 rows" in printed
    assert f"{counts['ambiguous']} ambiguous, {counts['far']} far" in printed
    assert f"Expected error of accepted rows: {reject.risk_:.1%}" in printed
    accepted = found[found["decision"] == "accepted"]
    error = (accepted["label"] != accepted["prediction"]).mean()
    assert f"Error of the {len(accepted)} accepted rows with a label: {error:.1%}" in printed


def test_document(run, files):
    found = json.loads(run("predict", *files, "--coverage", 0.8, "--json"))
    summary = found["reject"]
    assert (summary["target"], summary["value"]) == ("coverage", 0.8)
    decisions = [row["decision"] for row in found["rows"]]
    assert decisions.count("accepted") == summary["n_accepted"]
    assert decisions.count("ambiguous") == summary["n_ambiguous"]
    assert decisions.count("far") == summary["n_far"]
    assert summary["held_out"]["n_rows"] == 250
    assert summary["held_out"]["coverage"] >= 0.8
    assert summary["held_out"]["error_of_accepted"] < summary["held_out"]["error"]
    assert found["rows"][0].keys() == {"row", "true_label", "prediction", "decision", "probabilities"}
    without = json.loads(run("predict", *files, "--json"))
    assert without["reject"] is None
    assert "decision" not in without["rows"][0]


def test_explanations_say_why(run, files, tmp_path):
    printed = run("explain", *files, "--rows", "0:80", "--coverage", 0.8)
    assert "rejected: ambiguous" in printed
    assert "rejected: far" in printed
    assert "doubtful" not in printed
    assert "Expected error of accepted rows" in printed
    assert "Rejected: far. Its nearest rows are " in run("explain", *files, "--row", 79, "--coverage", 0.8)
    summary = run("explain", *files, "--rows", "0:80", "--coverage", 0.8, "-o", tmp_path / "e.csv")
    assert "Rejected as ambiguous: " in summary
    table = pd.read_csv(tmp_path / "e.csv").groupby("row")["decision"].first()
    document = json.loads(run("explain", *files, "--rows", "0:80", "--coverage", 0.8, "--json"))
    assert [row["decision"] for row in document["rows"]] == table.tolist()
    assert document["decision_counts"]["far"] >= 1
    rejected = [row for row in document["rows"] if row["decision"] != "accepted"]
    assert all(row["sentence"].startswith(f"Rejected: {row['decision']}. ") for row in rejected)
    assert all(row["decided_by"]["reason"] in row["sentence"] for row in rejected)


def test_invalid_options(fails, files, model, new):
    both = fails("predict", *files, "--coverage", 0.9, "--risk", 0.1)
    assert "At most one of cost, coverage and risk can be given" in both
    assert "coverage" in fails("predict", *files, "--coverage", 90)
    assert "risk" in fails("explain", *files, "--risk", -1)
    for command in ("predict", "explain"):
        assert "fit it again by `lann fit` with its cross-validation" in fails(
            command, model, new, "--reject-cost", 0.2
        )

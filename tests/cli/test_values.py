"""The commands on a table whose target has numbers."""

import json

import numpy as np
import pandas as pd
import pytest

import lann
from lann.report import evaluate_values
from lann.tables import TableModel


@pytest.fixture(scope="module")
def homes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"size": rng.uniform(20, 200, 160).round(1), "place": rng.choice(["city", "town"], 160)}
    )
    rent = frame["size"] * np.where(frame["place"] == "city", 3.0, 1.0) + rng.normal(0, 5, 160)
    return frame.assign(rent=rent.round(2))


@pytest.fixture(scope="module")
def files(tmp_path_factory, run, homes):
    folder = tmp_path_factory.mktemp("homes")
    homes[:110].to_csv(folder / "train.csv", index=False)
    homes[110:].to_csv(folder / "test.csv", index=False)
    printed = run("fit", folder / "train.csv", "--target", "rent", "--folds", 2, "-o", folder / "m.lann")
    return folder, printed


def test_fit_decides_by_the_target_and_says_so(files):
    folder, printed = files
    assert "rent has numbers from " in printed
    assert ": regression; --task classification predicts classes" in printed
    assert all(name in printed for name in ("R²", "RMSE", "90% coverage", "LANN", "kNN", "mean"))
    assert isinstance(lann.load(folder / "m.lann"), lann.LANNRegressor)


def test_the_task_can_be_given(run, fails, files, tmp_path):
    table, options = files[0] / "train.csv", ("--no-cv", "-o", tmp_path / "m.lann")
    text = fails("fit", table, "--target", "rent", "--task", "classification", *options)
    assert "must be classes with several rows each" in text
    assert "must have numbers" in fails("fit", table, "--target", "place", "--task", "regression", *options)
    assert "--balanced is for classes" in fails("fit", table, "--target", "rent", "--balanced", *options)
    assert "2 classes of place" in run("fit", table, "--target", "place", *options)


def test_predictions_have_intervals(run, files, homes, tmp_path):
    folder, _ = files
    printed = run("predict", folder / "m.lann", folder / "test.csv", "-o", tmp_path / "p.csv")
    assert "Mean absolute error: " in printed
    predicted = pd.read_csv(tmp_path / "p.csv")
    assert list(predicted) == ["label", "prediction", "low", "high"]
    assert np.corrcoef(predicted["prediction"], homes["rent"][110:])[0, 1] > 0.9
    document = json.loads(run("predict", folder / "m.lann", folder / "test.csv", "--json"))
    first = document["rows"][0]
    assert first["interval"]["low"] < first["prediction"] < first["interval"]["high"]
    errors = predicted["label"] - predicted["prediction"]
    assert document["mean_absolute_error"] == pytest.approx(errors.abs().mean())


def test_evaluation(run, fails, files, homes):
    folder, _ = files
    printed = run("evaluate", folder / "m.lann", folder / "test.csv")
    assert all(text in printed for text in ("R²", "CRPS", "By predicted value", "Largest errors"))
    document = json.loads(run("evaluate", folder / "m.lann", folder / "test.csv", "--json"))
    model = TableModel.load(folder / "m.lann")
    evaluation, scores = evaluate_values(model, homes[110:]), model.evaluate(homes[110:])
    assert document["scores"]["LANN"] == pytest.approx(scores)
    assert evaluation.scores["LANN"]["r2"] > max(evaluation.scores["mean"]["r2"], 0.8)
    errors = homes["rent"][110:] - model.classifier.predict(homes[110:][["size", "place"]])
    assert scores["mae"] == pytest.approx(errors.abs().mean())
    assert evaluation.by_part["n_rows"].sum() == 50
    assert "for classes" in fails("evaluate", folder / "m.lann", folder / "test.csv", "--html", "p.html")


def test_explanations(run, files, tmp_path):
    folder, _ = files
    printed = run("explain", folder / "m.lann", folder / "test.csv", "--row", 1)
    assert all(text in printed for text in ("rent ", "Similar cases", "adds to rent", "The known rent is"))
    assert "90% interval" in run("explain", folder / "m.lann", folder / "test.csv", "--rows", "0:12")
    run("explain", folder / "m.lann", folder / "test.csv", "--html", tmp_path / "p.html")
    page = (tmp_path / "p.html").read_text("utf-8")
    assert all(
        text in page for text in ("90% interval", "adds to", "predicted <span>rent", "mean absolute error")
    )
    row = json.loads(run("explain", folder / "m.lann", folder / "test.csv", "--json"))["rows"][0]
    total = row["base_value"] + sum(reason["support"] for reason in row["reasons"])
    assert total == pytest.approx(row["prediction"], abs=1e-9)
    table = tmp_path / "reasons.csv"
    run("explain", folder / "m.lann", folder / "test.csv", "--rows", "0:3", "-o", table)
    assert {"prediction", "low", "high", "support"} <= set(pd.read_csv(table))


def test_what_is_for_labels_says_so(fails, files):
    folder, _ = files
    for command in ("counterfactual", "suspects"):
        options = ("--row", 0) if command == "counterfactual" else ()
        arguments = (folder / "m.lann", folder / "test.csv") if options else ("--model", folder / "m.lann")
        assert "numbers" in fails(command, *arguments, *options)
    page = folder / "page.html"
    assert "The explorer needs" in fails("explore", "--model", folder / "m.lann", "-o", page)
    assert "not rejected" in fails("predict", folder / "m.lann", folder / "test.csv", "--coverage", "0.9")


def test_numbers_with_a_decimal_comma_and_missing_ones(run, tmp_path, homes):
    rows = homes.copy()
    rows["rent"] = [f"{value:.2f}".replace(".", ",") for value in rows["rent"]]
    rows.loc[3, "rent"] = None
    rows.to_csv(tmp_path / "d.csv", index=False, sep=";")
    printed = run("fit", tmp_path / "d.csv", "--target", "rent", "--no-cv", "-o", tmp_path / "m.lann")
    assert "159 rows" in printed
    assert lann.load(tmp_path / "m.lann").model_.values[0] == homes["rent"][0]
    assert "nothing" not in run("explain", tmp_path / "m.lann", tmp_path / "d.csv", "--rows", "0:12")

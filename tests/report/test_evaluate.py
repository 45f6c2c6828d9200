"""The figures of an evaluation, beside scikit-learn and slow references."""

import json
import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import calibration_curve
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics import (
    balanced_accuracy_score,
    brier_score_loss,
    classification_report,
    confusion_matrix,
    log_loss,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.baselines import LMNN
from lann.reject import aurc, risk_coverage_curve
from lann.report import RiskCurve, SourceFile, evaluate, evaluation_page
from lann.report._findings import find_slices, reliability
from lann.report._scores import Predictions, _Resampled, score_values, wilson_interval
from lann.tables import TableModel, TableWarning, TrainingTable, cross_validate, infer_columns

QUICK = {"n_resamples": 50}


@pytest.fixture(scope="module")
def cancer():
    """A model, test rows with labels, and its evaluation."""
    data = load_breast_cancer(as_frame=True)
    frame = data.data.iloc[:, :8].assign(diagnosis=data.target_names[data.target])
    model = TableModel.fit(frame[::2], "diagnosis")
    test = frame[1::2].reset_index(drop=True)
    return model, test, evaluate(model, test)


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return LANNClassifier(random_state=0, max_iter=3).fit(X[::2], y[::2]), X[1::2], y[1::2]


def random_predictions(n_rows=60, n_classes=3, seed=0, n_unknown=0, weighted=False):
    rng = np.random.default_rng(seed)
    probabilities = rng.dirichlet(np.ones(n_classes), n_rows).round(1) + 0.01  # with ties
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    truth = rng.integers(0, n_classes, n_rows)
    truth[:n_unknown] = n_classes
    weights = rng.uniform(0.5, 3, n_rows) if weighted else np.ones(n_rows)
    return Predictions(np.arange(n_classes + (n_unknown > 0)), n_classes, truth, probabilities, weights)


def two_classes(confidences, correct):
    probabilities = np.stack([confidences, 1 - confidences], axis=1)
    return Predictions(np.array(["a", "b"]), 2, np.where(correct, 0, 1), probabilities, np.ones(len(correct)))


def score(evaluation, name, column="value", method=None):
    return evaluation.scores.loc[(method or evaluation.methods[0], name), column]


def test_scores_are_those_of_scikit_learn(cancer):
    model, test, evaluation = cancer
    labels, probabilities = test["diagnosis"], model.predict(test).iloc[:, -2:].to_numpy()
    predicted = model.classifier.classes_[probabilities.argmax(axis=1)]
    assert evaluation.scores.loc["LANN", "value"].to_dict() == pytest.approx(
        {
            "accuracy": np.mean(predicted == labels),
            "balanced_accuracy": balanced_accuracy_score(labels, predicted),
            "auc": roc_auc_score(labels == "malignant", probabilities[:, 1]),
            "log_loss": log_loss(labels, probabilities),
            "brier": brier_score_loss(labels == "malignant", probabilities[:, 1]),
        }
    )
    report = classification_report(labels, predicted, output_dict=True)
    for line in evaluation.by_class.itertuples():
        expected = [report[line.label][name] for name in ("precision", "recall", "f1-score", "support")]
        assert [line.precision, line.recall, line.f1, line.n_rows] == pytest.approx(expected)
    np.testing.assert_array_equal(evaluation.confusion_matrix, confusion_matrix(labels, predicted))
    assert evaluation.n_wrong == np.sum(predicted != labels)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("n_unknown", [0, 4])
def test_resampled_scores_are_those_of_the_resampled_rows(n_classes, n_unknown):
    rows = random_predictions(40, n_classes, n_unknown=n_unknown, weighted=True)
    resampled, rng = _Resampled(rows), np.random.default_rng(1)
    counts = np.stack([np.bincount(rng.integers(0, 40, 40), minlength=40) for _ in range(5)], axis=1)
    found = resampled.scores(counts * rows.weights[:, None])
    for number in range(5):
        chosen = np.repeat(np.arange(40), counts[:, number])
        part = Predictions(
            rows.classes, rows.n_known, rows.truth[chosen], rows.probabilities[chosen], rows.weights[chosen]
        )
        np.testing.assert_allclose(found[number], list(score_values(part).values()), rtol=1e-9)


def test_intervals_are_reproducible_and_hold_the_scores(cancer):
    model, test, evaluation = cancer
    pd.testing.assert_frame_equal(evaluate(model, test).scores, evaluation.scores)
    assert not evaluate(model, test, random_state=1, **QUICK).scores.equals(evaluation.scores)
    scores = evaluation.scores.loc[["LANN", "kNN"]]
    assert ((scores["low"] < scores["value"]) & (scores["value"] < scores["high"])).all()
    knn = evaluation.scores.loc["kNN"]
    assert (knn["difference_low"] <= knn["difference"]).all()
    assert (knn["difference"] <= knn["difference_high"]).all()
    expected = evaluation.scores.loc["LANN", "value"] - knn["value"]
    np.testing.assert_allclose(knn["difference"], expected)
    majority = evaluation.scores.loc["majority", "verdict"]
    assert (majority == "better").all()  # of losses, too


def test_wilson_intervals():
    ones = np.ones(10)
    # From the formula, and exact bounds at 0 and 1.
    np.testing.assert_allclose(wilson_interval(ones, ones), [0.7224672001371107, 1.0])
    np.testing.assert_allclose(wilson_interval(0 * ones, ones), [0.0, 0.2775327998628892])
    half = wilson_interval(np.arange(10) % 2 * 1.0, ones)
    np.testing.assert_allclose(half, [0.2365931, 0.7634069], rtol=1e-6)
    # A weight common to all rows does not matter; unequal weights widen the interval.
    assert wilson_interval(ones, 3 * ones) == pytest.approx(wilson_interval(ones, ones))
    assert wilson_interval(ones, np.arange(1.0, 11))[0] < wilson_interval(ones, ones)[0]


def test_reliability_is_that_of_scikit_learn():
    rows = random_predictions(500)
    found = reliability(rows, 0)
    accuracies, means = calibration_curve(rows.correct, rows.confidences, n_bins=10)
    np.testing.assert_allclose(found.bins["accuracy"], accuracies)
    np.testing.assert_allclose(found.bins["mean_probability"], means)
    assert found.bins["n_rows"].sum() == 500
    expected = np.average(np.abs(accuracies - means), weights=found.bins["n_rows"])
    assert found.expected_calibration_error == pytest.approx(expected)
    assert not found.is_calibrated
    assert "This is more than chance" in found.verdict


def test_sentences_about_probabilities():
    alone = reliability(two_classes(np.full(50, 0.9), np.arange(50) < 44), 0)
    assert alone.sentences == ["When it said 90%, it was right in 88% (50 rows)."]
    correct = np.full(100, True)
    correct[[0, 1, 2, 3, 10, 11, 50, 51]] = False
    found = reliability(two_classes(np.repeat([0.55, 0.75, 0.95], [10, 10, 80]), correct), 0)
    expected = "20% of the rows have a probability below 80%, and 75% of the mistakes are among them."
    assert found.sentences[-1] == expected


def columns_of(values):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return [column for column in infer_columns(values)[0] if column.is_used]


def test_a_planted_slice_is_found_first():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(
        {
            "ward": rng.choice(["north", "south", "east"], 600),
            "age": rng.uniform(20, 80, 600).round(),
            "dose": rng.choice([1.0, 2.0, 3.0, np.nan], 600),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 600), "D"),
            "member": pd.array(rng.choice([True, False, None], 600), dtype="boolean"),
        }
    )
    is_bad = (values["ward"] == "east").to_numpy()
    correct = rng.random(600) < np.where(is_bad, 0.7, 0.95)
    slices = find_slices(two_classes(np.full(600, 0.8), correct), values, columns_of(values), ["age", "dose"])
    first = slices.iloc[0]
    assert (first["column"], first["values"]) == ("ward", "east")
    assert first["is_worse"]
    assert not first["is_used"]
    assert first["n_rows"] == is_bad.sum()
    assert first["n_wrong"] == np.sum(~correct[is_bad])
    assert first["accuracy"] == pytest.approx(correct[is_bad].mean())
    assert first["accuracy_elsewhere"] == pytest.approx(correct[~is_bad].mean())
    assert first["mean_probability"] == pytest.approx(0.8)
    by_column = slices.groupby("column")["values"].agg(set)
    assert by_column["dose"] == {"1", "2", "3", "missing"}
    assert by_column["member"] == {"True", "False", "missing"}
    assert any(text.startswith("2024-01-01 to 2024-") for text in by_column["day"])
    ages = slices[slices["column"] == "age"]
    assert (len(ages), ages["n_rows"].sum()) == (4, 600)
    assert slices["is_worse"].sum() == 1


def test_chance_is_not_called_worse():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(200, 10)), columns=[f"x{j}" for j in range(10)])
    columns, n_alarms = columns_of(values), 0
    for _ in range(50):
        rows = two_classes(np.full(200, 0.8), rng.random(200) < 0.85)
        slices = find_slices(rows, values, columns, list(values))
        assert len(slices) == 40
        n_alarms += slices["is_worse"].any()
    assert n_alarms <= 5


def test_mistakes_are_the_most_confident_ones(cancer):
    model, test, evaluation = cancer
    predictions = model.predict(test)
    wrong = predictions["prediction"] != predictions["label"]
    confidences = predictions.iloc[:, -2:].max(axis=1)[wrong].sort_values(ascending=False)
    mistakes = evaluation.mistakes
    assert mistakes["probability"].tolist() == pytest.approx(confidences[:10].tolist())
    first = mistakes.iloc[0]
    assert first["prediction"] != first["label"] == test["diagnosis"][first["row"]]
    assert first["sentence"] == model.explain(test, [first["row"]]).in_words()[0]


def test_baselines_are_plain_knn_and_the_largest_class(cancer):
    model, test, evaluation = cancer
    train = model.training_rows()
    labels = model.classifier.classes_[model.classifier.model_.labels]
    plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")).fit(train, labels)
    majority = pd.Series(labels).mode()[0]
    assert evaluation.methods == ["LANN", "kNN", "majority"]
    expected = plain.score(test[train.columns], test["diagnosis"])
    assert score(evaluation, "accuracy", method="kNN") == pytest.approx(expected)
    expected = (test["diagnosis"] == majority).mean()
    assert score(evaluation, "accuracy", method="majority") == pytest.approx(expected)


def test_any_classifier_with_probabilities(flowers):
    _, X, y = flowers
    forest = RandomForestClassifier(20, random_state=3).fit(X[::2], y[::2])
    alone = evaluate(forest, X[1::2], y[1::2], **QUICK)
    assert score(alone, "accuracy") == forest.score(X[1::2], y[1::2])
    assert alone.methods == ["RandomForestClassifier"]
    assert alone.audit["random_state"] == 3
    assert alone.mistakes["sentence"].isna().all()
    compared = evaluate(forest, X[1::2], y[1::2], training=(X[::2], y[::2]), **QUICK)
    assert compared.methods == ["RandomForestClassifier", "kNN", "majority"]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=y)
    pipeline = make_pipeline(StandardScaler(), forest).fit(frame.drop(columns="kind"), y)
    assert score(evaluate(pipeline, frame, "kind", **QUICK), "accuracy") == 1.0
    metric = LMNN(max_iter=2).fit(X[::2], y[::2])
    found = score(evaluate(metric, X[1::2], y[1::2], **QUICK), "accuracy")
    assert found == metric.score(X[1::2], y[1::2])


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_columns_that_the_model_does_not_use_are_slices(make_table):
    model = TableModel.fit(make_table(300), "group", id="name", drop=["color"])
    evaluation = evaluate(model, make_table(200, seed=1), **QUICK)
    used = dict(zip(evaluation.slices["column"], evaluation.slices["is_used"], strict=True))
    assert used == {"size [cm]": True, "member": True, "noise": True, "color": False}
    assert evaluation.slices["column"][0] == "color"  # it decides, and the model cannot know it
    mistake = evaluation.mistakes.iloc[0]
    assert mistake["id"] == f"p{mistake['row']}"


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_weights_count_as_rows(make_table):
    frame = make_table(120).assign(times=np.arange(120) % 3)
    model = TableModel.fit(frame, "group", id="name", sample_weight="times")
    test = make_table(90, seed=1).assign(times=np.arange(90) % 4)
    weighted = evaluate(model, test, **QUICK)
    repeated = test.loc[test.index.repeat(test["times"])].drop(columns="times")
    plain = evaluate(model, repeated, **QUICK)
    np.testing.assert_allclose(weighted.scores["value"], plain.scores["value"])
    np.testing.assert_array_equal(weighted.confusion_matrix, plain.confusion_matrix)
    assert weighted.notes[0] == "23 rows have no label or the weight 0 and are left out."
    assert "weights in the column 'times', which the test rows do not have" in " ".join(plain.notes)
    given = evaluate(model, test.drop(columns="times"), sample_weight=test["times"], **QUICK)
    pd.testing.assert_frame_equal(given.scores, weighted.scores)


def test_rows_without_labels_are_left_out(cancer):
    model, test, _ = cancer
    gaps = test.copy()
    gaps.loc[::3, "diagnosis"] = None
    found = evaluate(model, gaps, **QUICK)
    expected = evaluate(model, test[gaps["diagnosis"].notna()], **QUICK)
    pd.testing.assert_frame_equal(found.scores, expected.scores)
    assert found.notes == ("95 rows have no label and are left out.",)
    assert found.row_numbers[:3].tolist() == [1, 2, 4]


def test_unknown_labels_count_as_mistakes(cancer):
    model, test, _ = cancer
    odd = test.copy()
    odd.loc[[0, 1, 2], "diagnosis"] = ["odd", "odd", "other"]
    found = evaluate(model, odd, **QUICK)
    assert found.classes.tolist() == ["benign", "malignant", "odd", "other"]
    line = found.by_class.iloc[2]
    assert (line["n_rows"], line["recall"], line["is_known"]) == (2, 0, False)
    assert np.isnan(line["precision"])
    known = evaluate(model, test[3:].reset_index(drop=True), **QUICK)
    assert found.n_wrong == known.n_wrong + 3
    for name in ("auc", "log_loss", "brier"):
        assert score(found, name) == pytest.approx(score(known, name))
    expected = "3 rows have labels that the model does not know, 'odd', 'other', and count as mistakes"
    assert expected in found.notes[0]
    assert "not known to the model" in evaluation_page(found)
    with pytest.raises(ValueError, match=r"none of the labels of new\.csv: 'x'; its classes are 'benign'"):
        evaluate(model, test.assign(diagnosis="x"), name="new.csv")


def test_one_class_and_one_row(cancer):
    model, test, _ = cancer
    same = evaluate(model, test[test["diagnosis"] == "benign"], **QUICK)
    assert np.isnan(score(same, "auc"))
    assert score(same, "balanced_accuracy") == score(same, "accuracy")
    assert "All test rows have the label 'benign': there is no AUC." in same.notes
    row = evaluate(model, test[:1], **QUICK)
    assert len(row) == 1
    assert 0 <= score(row, "accuracy", "low") < score(row, "accuracy", "high") <= 1
    assert np.isnan(score(row, "log_loss", "low"))
    assert len(row.slices) == 0
    assert "accuracy" in repr(row)
    json.dumps(row.to_dict(), allow_nan=False)
    assert "No value of a column has enough rows" in evaluation_page(row)


def test_training_rows_are_noted(cancer):
    model, test, evaluation = cancer
    assert evaluation.notes == ()
    train = model.training_rows().assign(diagnosis=model.classifier.classes_[model.classifier.model_.labels])
    note = evaluate(model, train, **QUICK).notes[0]
    assert "285 rows of 285 (100%) have the values of a training row" in note
    some = evaluate(model, pd.concat([test, train[:3]], ignore_index=True), **QUICK)
    assert "3 rows of 287 (1%)" in some.notes[0]


def test_invalid_arguments(cancer, flowers):
    model, test, _ = cancer
    clf, X, y = flowers
    forest = RandomForestClassifier(2).fit(X, y)
    calls = {
        "no column 'diagnosis' in the table for target": (model, test.drop(columns="diagnosis")),
        "the target 'diagnosis' is empty": (model, test.assign(diagnosis=None)),
        "does not know the name of its target": (clf, X),
        "There are 3 labels for the 75 rows": (clf, X, y[:3]),
        "RidgeClassifier without predict_proba": (RidgeClassifier().fit(X, y), X, y),
        "y is needed": (forest, X),
        "There are 3 labels for the 75 rows of X": (forest, X, y[:3]),
        "no column 'y' in X": (forest, X, "y"),
    }
    for message, arguments in calls.items():
        with pytest.raises(ValueError, match=message):
            evaluate(*arguments)
    with pytest.raises(ValueError, match="There are 2 weights for the 75 rows"):
        evaluate(clf, X, y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="sample_weight must have 75 finite numbers"):
        evaluate(forest, X, y, sample_weight=-np.ones(75))
    with pytest.raises(ValueError, match="n_resamples must be"):
        evaluate(clf, X, y, n_resamples=-1)


def test_the_risk_coverage_curve_is_that_of_the_probabilities(cancer):
    *_, evaluation = cancer
    outcome = evaluation.labels, evaluation.predictions, evaluation.probabilities.max(axis=1)
    model, knn = evaluation.rejection.curves
    assert (model.method, knn.method) == ("LANN", "kNN")
    np.testing.assert_array_equal([model.coverages, model.risks], risk_coverage_curve(*outcome))
    assert model.aurc == aurc(*outcome)
    assert evaluation.rejection.certainty == "probability"
    assert model.risk_at(1.0) == pytest.approx(1 - score(evaluation, "accuracy"))
    gone = 1 - 0.9 * model.risk_at(0.9) / model.risk_at(1.0)
    assert f"{gone:.0%} of the mistakes are among these rows." in evaluation.rejection.sentence
    curve = RiskCurve("m", np.array([0.4, 0.8, 1.0]), np.array([0.1, 0.1, 0.2]), 0.1)
    assert [curve.risk_at(c) for c in (0.1, 0.4, 0.9, 1.0)] == pytest.approx([0.1, 0.1, 0.15, 0.2])


def test_certainty_of_a_model_with_held_out_rows_is_that_of_its_reject_option(cancer):
    _, test, _ = cancer
    table, folds = TrainingTable.from_frame(test[::2], "diagnosis"), []
    quick = LANNClassifier(max_iter=1, random_state=0)
    cross_validate(table, quick, n_folds=2, folds=folds)
    model = table.fit(quick, folds=folds)
    found = evaluate(model, test[1::2])
    assert found.rejection.certainty == "combined"
    certainties = model.reject_option().certainties(test[1::2].drop(columns="diagnosis"))
    assert found.rejection.curves[0].aurc == aurc(found.labels, found.predictions, certainties)
    assert "The certainty is that of the reject option" in evaluation_page(found)


def test_no_mistakes():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 20).astype(int)
    found = evaluate(LANNClassifier(max_iter=1, random_state=0).fit(X, y), X, y)
    assert found.rejection.sentence == "No prediction is wrong, so that there is nothing to reject."
    assert found.rejection.curves[0].aurc == 0.0
    assert "There are no mistakes." in evaluation_page(found)


def test_the_table_has_all_figures(cancer):
    *_, evaluation = cancer
    frame = evaluation.to_frame()
    parts = {"scores", "difference", "class", "confusion", "reliability", "rejection", "slice"}
    assert set(frame["part"]) == parts
    accuracy = frame.query("part == 'scores' and method == 'LANN' and measure == 'accuracy'")
    expected = evaluation.scores.loc[("LANN", "accuracy"), ["value", "low", "high"]].tolist()
    assert accuracy[["value", "low", "high"]].to_numpy()[0].tolist() == expected
    assert frame.query("part == 'confusion'")["value"].sum() == len(evaluation)
    assert (frame["part"] == "slice").sum() == 3 * len(evaluation.slices)
    rejection = frame.query("part == 'rejection' and method == 'LANN'")
    assert rejection["measure"].tolist() == ["aurc"] + ["error"] * 6


def test_the_dictionary_is_json(cancer):
    *_, evaluation = cancer
    found = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    accuracy = found["methods"][0]["scores"]["accuracy"]
    assert accuracy["value"] == score(evaluation, "accuracy")
    assert found["classes"] == ["benign", "malignant"]
    assert found["by_class"][0]["recall"].keys() == {"value", "low", "high"}
    assert found["mistakes"][0]["row"] == evaluation.mistakes["row"][0]
    assert found["audit"]["versions"]["lann"]
    assert len(found["slices"]) == len(evaluation.slices)
    assert found["methods"][0]["differences"] == {}
    assert found["methods"][2]["scores"]["auc"]["low"] is None
    assert found["rejection"]["methods"][0]["errors"][0]["accepted"] == 1.0
    assert all(re.fullmatch("[a-z][a-z0-9_]*", key) for key in keys_of(found))


def keys_of(document):
    if isinstance(document, dict):
        yield from document
    for item in document.values() if isinstance(document, dict) else document:
        if isinstance(item, dict | list):
            yield from keys_of(item)


def test_files_and_the_cross_validation_are_in_the_audit(cancer, tmp_path):
    _, test, _ = cancer
    table = TrainingTable.from_frame(test, "diagnosis")
    test.to_csv(tmp_path / "rows.csv", index=False)
    file = SourceFile.from_path(tmp_path / "rows.csv")
    model = table.fit(scores=cross_validate(table, n_folds=2), data_sha256=file.sha256)
    model.save(tmp_path / "model.lann")
    plain = evaluate(model, test, **QUICK)
    assert not plain.audit["is_training_file"]
    found = plain.with_files(model=tmp_path / "model.lann", data=tmp_path / "rows.csv", notes=["Odd."])
    assert found.audit["data_file"] == file
    assert found.audit["model_file"].name == "model.lann"
    assert found.audit["is_training_file"]
    assert found.notes[0].startswith("The test file is the training file")
    assert found.notes[1:] == ("Odd.",)
    assert [method.method for method in found.audit["cross_validation"]] == ["LANN", "kNN", "majority"]

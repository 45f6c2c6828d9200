"""The figures of an evaluation, beside scikit-learn and slow references."""

import json
import re
import warnings
from dataclasses import replace

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
from lann.report import SourceFile, evaluate
from lann.report._evaluation.findings import find_slices, reliability
from lann.report._evaluation.scores import (
    Predictions,
    _Resampled,
    score_values,
    wilson_interval,
)
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
    classes = np.arange(n_classes + (n_unknown > 0))
    return Predictions(classes, n_classes, truth, probabilities, weights)


def test_scores_are_those_of_scikit_learn(cancer):
    model, test, evaluation = cancer
    labels, probabilities = test["diagnosis"], model.predict(test).iloc[:, -2:].to_numpy()
    predicted = model.classifier.classes_[probabilities.argmax(axis=1)]
    values = {name: score.value for name, score in evaluation.scores.items()}
    assert values == pytest.approx(
        {
            "accuracy": np.mean(predicted == labels),
            "balanced_accuracy": balanced_accuracy_score(labels, predicted),
            "auc": roc_auc_score(labels == "malignant", probabilities[:, 1]),
            "log_loss": log_loss(labels, probabilities),
            "brier": brier_score_loss(labels == "malignant", probabilities[:, 1]),
        }
    )
    report = classification_report(labels, predicted, output_dict=True)
    for scores in evaluation.by_class:
        expected = report[scores.label]
        found = (scores.precision.value, scores.recall.value, scores.f1, scores.n_rows)
        assert found == pytest.approx(
            (expected["precision"], expected["recall"], expected["f1-score"], expected["support"])
        )
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
    again = evaluate(model, test)
    assert again.methods == evaluation.methods
    assert replace(again.audit, created="") == replace(evaluation.audit, created="")
    other = evaluate(model, test, random_state=1)
    assert other.methods != evaluation.methods
    for method in evaluation.methods[:2]:
        for value, low, high in method.scores.values():
            assert low < value < high
    knn = evaluation.methods[1]
    for name, (value, low, high) in knn.differences.items():
        assert low <= value <= high
        assert value == pytest.approx(evaluation.scores[name].value - knn.scores[name].value)


def test_wilson_intervals():
    ones = np.ones(10)
    # From the formula, and exact bounds at 0 and 1.
    np.testing.assert_allclose(wilson_interval(ones, ones), [0.7224672001371107, 1.0])
    np.testing.assert_allclose(wilson_interval(0 * ones, ones), [0.0, 0.2775327998628892])
    np.testing.assert_allclose(
        wilson_interval(np.arange(10) % 2 * 1.0, ones), [0.2365931, 0.7634069], rtol=1e-6
    )
    # A weight common to all rows does not matter; unequal weights widen the interval.
    assert wilson_interval(ones, 3 * ones) == pytest.approx(wilson_interval(ones, ones))
    assert wilson_interval(ones, np.arange(1.0, 11))[0] < wilson_interval(ones, ones)[0]


def test_reliability_is_that_of_scikit_learn():
    rows = random_predictions(500)
    found = reliability(rows, 0)
    accuracies, means = calibration_curve(rows.correct, rows.confidences, n_bins=10)
    np.testing.assert_allclose([part.accuracy.value for part in found.bins], accuracies)
    np.testing.assert_allclose([part.mean_probability for part in found.bins], means)
    assert sum(part.n_rows for part in found.bins) == 500
    sizes = np.array([part.n_rows for part in found.bins])
    expected = np.average(np.abs(accuracies - means), weights=sizes)
    assert found.expected_calibration_error == pytest.approx(expected)
    assert not found.is_calibrated
    assert "This is more than chance" in found.verdict


def test_right_probabilities_are_calibrated():
    rng = np.random.default_rng(0)
    confidences = rng.uniform(0.5, 1, 400)
    n_calibrated = 0
    for _ in range(100):
        truth = (rng.random(400) > confidences).astype(np.int64)
        rows = Predictions(
            np.array(["a", "b"]), 2, truth, np.stack([confidences, 1 - confidences], 1), np.ones(400)
        )
        n_calibrated += reliability(rows, 0).is_calibrated
    assert n_calibrated >= 90


def test_the_sentence_says_what_was_said_and_what_was_right():
    probabilities = np.tile([0.9, 0.1], (50, 1))
    truth = np.repeat([0, 1], [44, 6])
    rows = Predictions(np.array(["a", "b"]), 2, truth, probabilities, np.ones(50))
    found = reliability(rows, 0)
    assert found.sentences == ["When it said 90%, it was right in 88% (50 rows)."]
    assert found.bins[0].n_wrong == 6
    assert found.share_of_mistakes == ""


def test_mistakes_with_low_probabilities_are_counted():
    confidences = np.repeat([0.55, 0.75, 0.95], [10, 10, 80])
    truth = np.zeros(100, dtype=np.int64)
    truth[[0, 1, 2, 3, 10, 11, 50, 51]] = 1
    rows = Predictions(
        np.array(["a", "b"]), 2, truth, np.stack([confidences, 1 - confidences], 1), np.ones(100)
    )
    found = reliability(rows, 0).share_of_mistakes
    assert found == "20% of the rows have a probability below 80%, and 75% of the mistakes are among them."


# Slices


def slices_of(correct, values, columns=None, **options):
    probabilities = np.tile([0.8, 0.2], (len(correct), 1))
    truth = np.where(correct, 0, 1)
    rows = Predictions(np.array(["a", "b"]), 2, truth, probabilities, np.ones(len(correct)))
    columns = columns_of(values) if columns is None else columns
    return find_slices(rows, values, columns, **({"used": list(values)} | options))


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
        }
    )
    is_bad = (values["ward"] == "east").to_numpy()
    correct = rng.random(600) < np.where(is_bad, 0.7, 0.95)
    found = slices_of(correct, values, used=["age", "dose"])
    assert found[0].name == "ward: east"
    assert found[0].is_worse
    assert not found[0].is_used
    assert found[0].n_rows == is_bad.sum()
    assert found[0].n_wrong == np.sum(~correct[is_bad])
    assert found[0].accuracy.value == pytest.approx(correct[is_bad].mean())
    assert found[0].accuracy_elsewhere == pytest.approx(correct[~is_bad].mean())
    assert found[0].mean_probability == pytest.approx(0.8)
    names = {part.name for part in found}
    assert {"dose: 1", "dose: 2", "dose: 3", "dose: missing", "ward: north"} <= names
    ages = [part for part in found if part.column == "age"]
    assert len(ages) == 4
    assert sum(part.n_rows for part in ages) == 600
    assert sum(part.is_worse for part in found) == 1


def test_chance_is_not_called_worse():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(rng.normal(size=(200, 10)), columns=[f"x{j}" for j in range(10)])
    columns, n_alarms = columns_of(values), 0
    for _ in range(100):
        found = slices_of(rng.random(200) < 0.85, values, columns)
        assert len(found) == 40
        n_alarms += any(part.is_worse for part in found)
    assert n_alarms <= 8


def test_dates_and_bools_are_slices():
    rng = np.random.default_rng(0)
    values = pd.DataFrame(
        {
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 200), "D"),
            "member": pd.array(rng.choice([True, False, None], 200), dtype="boolean"),
        }
    )
    names = {part.name for part in slices_of(rng.random(200) < 0.8, values)}
    assert {"member: True", "member: False", "member: missing"} <= names
    assert any(name.startswith("day: 2024-01-01 to 2024-") for name in names)


# Models


def test_mistakes_are_the_most_confident_ones(cancer):
    model, test, evaluation = cancer
    predictions = model.predict(test)
    wrong = predictions["prediction"] != predictions["label"]
    confidences = predictions.iloc[:, -2:].max(axis=1)[wrong].sort_values(ascending=False)
    shown = evaluation.mistakes
    assert [mistake.probability for mistake in shown] == pytest.approx(confidences[:10].tolist())
    first = shown[0]
    assert first.label == test["diagnosis"][first.row]
    assert first.prediction != first.label
    assert first.sentence == model.explain(test, [first.row]).in_words()[0]


def test_the_sentence_is_about_the_prediction_that_is_evaluated(cancer):
    model, *_ = cancer
    train = model.training_rows().assign(diagnosis=model.classifier.classes_[model.classifier.model_.labels])
    # Training rows with the other label: explained without themselves, some have another prediction.
    train["diagnosis"] = train["diagnosis"].map({"benign": "malignant", "malignant": "benign"})
    alone = model.explain(train).predictions
    together = model.predict(train)["prediction"].to_numpy()
    changed = np.flatnonzero((alone != together) & (together != train["diagnosis"]))
    assert len(changed) > 0
    found = evaluate(model, train.iloc[changed[:5]], **QUICK)
    for mistake in found.mistakes:
        assert mistake.prediction in mistake.sentence.split(",")[0]


def test_baselines_are_plain_knn_and_the_largest_class(cancer):
    model, test, evaluation = cancer
    train = model.training_rows()
    labels = model.classifier.classes_[model.classifier.model_.labels]
    plain = make_pipeline(StandardScaler(), KNeighborsClassifier(5, weights="distance")).fit(train, labels)
    majority = pd.Series(labels).mode()[0]
    expected = [plain.score(test[train.columns], test["diagnosis"]), (test["diagnosis"] == majority).mean()]
    assert [method.method for method in evaluation.methods] == ["LANN", "kNN", "majority"]
    assert [method.scores["accuracy"].value for method in evaluation.methods[1:]] == pytest.approx(expected)


def test_any_classifier_with_probabilities(flowers):
    _, X, y = flowers
    forest = RandomForestClassifier(20, random_state=3).fit(X[::2], y[::2])
    alone = evaluate(forest, X[1::2], y[1::2], **QUICK)
    assert alone.scores["accuracy"].value == forest.score(X[1::2], y[1::2])
    assert [method.method for method in alone.methods] == ["RandomForestClassifier"]
    assert alone.audit.random_state == 3
    assert all(mistake.sentence is None for mistake in alone.mistakes)
    compared = evaluate(forest, X[1::2], y[1::2], training=(X[::2], y[::2]), **QUICK)
    assert [method.method for method in compared.methods] == ["RandomForestClassifier", "kNN", "majority"]
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=y)
    pipeline = make_pipeline(StandardScaler(), forest).fit(frame.drop(columns="kind"), y)
    assert evaluate(pipeline, frame, "kind", **QUICK).scores["accuracy"].value == 1.0
    metric = LMNN(max_iter=2).fit(X[::2], y[::2])
    assert evaluate(metric, X[1::2], y[1::2], **QUICK).scores["accuracy"].value == metric.score(
        X[1::2], y[1::2]
    )


def test_columns_that_the_model_does_not_use_are_slices(make_table):
    frame = make_table(300)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        model = TableModel.fit(frame, "group", id="name", drop=["color"])
        evaluation = evaluate(model, make_table(200, seed=1), **QUICK)
    used = {part.column: part.is_used for part in evaluation.slices}
    assert used == {"size [cm]": True, "member": True, "noise": True, "color": False}
    assert evaluation.slices[0].column == "color"  # it decides, and the model cannot know it
    assert evaluation.mistakes[0].id == f"p{evaluation.mistakes[0].row}"


def test_weights_count_as_rows(make_table):
    frame = make_table(120).assign(times=np.arange(120) % 3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        model = TableModel.fit(frame, "group", id="name", sample_weight="times")
        test = make_table(90, seed=1).assign(times=np.arange(90) % 4)
        weighted = evaluate(model, test, **QUICK)
        repeated = test.loc[test.index.repeat(test["times"])].drop(columns="times")
        plain = evaluate(model, repeated, **QUICK)
    for name, score in weighted.scores.items():
        assert score.value == pytest.approx(plain.scores[name].value)
    np.testing.assert_array_equal(weighted.confusion_matrix, plain.confusion_matrix)
    assert weighted.notes[0] == "23 rows have no label or the weight 0 and are left out."
    assert "weights in the column 'times', which the test rows do not have" in " ".join(plain.notes)
    given = evaluate(model, test.drop(columns="times"), sample_weight=test["times"], **QUICK)
    assert given.methods == weighted.methods


# Odd test rows


def test_rows_without_labels_are_left_out(cancer):
    model, test, _ = cancer
    gaps = test.copy()
    gaps.loc[::3, "diagnosis"] = None
    found, expected = (
        evaluate(model, gaps, **QUICK),
        evaluate(model, test[gaps["diagnosis"].notna()], **QUICK),
    )
    assert found.methods == expected.methods
    assert found.notes == ("95 rows have no label and are left out.",)
    assert found.row_numbers[:3].tolist() == [1, 2, 4]


def test_unknown_labels_count_as_mistakes(cancer):
    model, test, plain = cancer
    odd = test.copy()
    odd.loc[[0, 1, 2], "diagnosis"] = ["odd", "odd", "other"]
    found = evaluate(model, odd, **QUICK)
    assert found.classes.tolist() == ["benign", "malignant", "odd", "other"]
    assert found.by_class[2].n_rows == 2
    assert found.by_class[2].recall.value == 0
    assert not found.by_class[2].is_known
    assert np.isnan(found.by_class[2].precision.value)
    known = evaluate(model, test[3:].reset_index(drop=True), **QUICK)
    assert found.n_wrong == known.n_wrong + 3
    for name in ("auc", "log_loss", "brier"):
        assert found.scores[name].value == pytest.approx(known.scores[name].value)
    assert (
        "3 rows have labels that the model does not know, 'odd', 'other', and count as mistakes"
        in found.notes[0]
    )
    assert len(found.methods) == len(plain.methods)
    with pytest.raises(
        ValueError, match=r"knows none of the labels of new\.csv: 'x'; its classes are 'benign'"
    ):
        evaluate(model, test.assign(diagnosis="x"), name="new.csv")


def test_one_class_and_one_row(cancer):
    model, test, _ = cancer
    same = evaluate(model, test[test["diagnosis"] == "benign"], **QUICK)
    assert np.isnan(same.scores["auc"].value)
    assert same.scores["balanced_accuracy"].value == same.scores["accuracy"].value
    assert "All test rows have the label 'benign': there is no AUC." in same.notes
    row = evaluate(model, test[:1], **QUICK)
    assert len(row) == 1
    assert 0 <= row.scores["accuracy"].low < row.scores["accuracy"].high <= 1
    assert np.isnan(row.scores["log_loss"].low)
    assert row.slices == []
    assert "accuracy" in repr(row)
    json.dumps(row.to_dict(), allow_nan=False)


def test_training_rows_are_noted(cancer):
    model, test, evaluation = cancer
    assert evaluation.notes == ()
    train = model.training_rows().assign(diagnosis=model.classifier.classes_[model.classifier.model_.labels])
    assert (
        "285 rows of 285 (100%) have the values of a training row" in evaluate(model, train, **QUICK).notes[0]
    )
    some = evaluate(model, pd.concat([test, train[:3]], ignore_index=True), **QUICK)
    assert "3 rows of 287 (1%)" in some.notes[0]
    assert "If these are the same cases" in some.notes[0]


def test_invalid_arguments(cancer, flowers):
    model, test, _ = cancer
    clf, X, y = flowers
    with pytest.raises(ValueError, match="no column 'diagnosis' in the table for target"):
        evaluate(model, test.drop(columns="diagnosis"))
    with pytest.raises(ValueError, match="no row with a label in the table: the target 'diagnosis' is empty"):
        evaluate(model, test.assign(diagnosis=None))
    with pytest.raises(ValueError, match="does not know the name of its target"):
        evaluate(clf, X)
    with pytest.raises(ValueError, match="There are 3 labels for the 75 rows"):
        evaluate(clf, X, y[:3])
    with pytest.raises(ValueError, match="There are 2 weights for the 75 rows"):
        evaluate(clf, X, y, sample_weight=[1, 2])
    with pytest.raises(ValueError, match="RidgeClassifier without predict_proba"):
        evaluate(RidgeClassifier().fit(X, y), X, y)
    forest = RandomForestClassifier(2).fit(X, y)
    with pytest.raises(ValueError, match="y is needed"):
        evaluate(forest, X)
    with pytest.raises(ValueError, match="There are 3 labels for the 75 rows of X"):
        evaluate(forest, X, y[:3])
    with pytest.raises(ValueError, match="no column 'y' in X"):
        evaluate(forest, X, "y")
    with pytest.raises(ValueError, match="sample_weight must have 75 finite numbers"):
        evaluate(forest, X, y, sample_weight=-np.ones(75))
    with pytest.raises(ValueError, match="n_resamples must be"):
        evaluate(clf, X, y, n_resamples=-1)


# Results


def test_the_table_has_all_figures(cancer):
    *_, evaluation = cancer
    frame = evaluation.to_frame()
    parts = {"scores", "difference", "class", "confusion", "reliability", "rejection", "slice"}
    assert set(frame["part"]) == parts
    accuracy = frame.query("part == 'scores' and method == 'LANN' and measure == 'accuracy'")
    assert accuracy[["value", "low", "high"]].to_numpy()[0] == pytest.approx(evaluation.scores["accuracy"])
    confusions = frame.query("part == 'confusion'")
    assert confusions["value"].sum() == len(evaluation)
    assert (frame["part"] == "slice").sum() == 3 * len(evaluation.slices)


def test_the_dictionary_is_json(cancer):
    *_, evaluation = cancer
    found = json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))
    assert found["methods"][0]["scores"]["accuracy"]["value"] == evaluation.scores["accuracy"].value
    assert found["classes"] == ["benign", "malignant"]
    assert found["mistakes"][0]["row"] == evaluation.mistakes[0].row
    assert found["audit"]["versions"]["lann"]
    assert len(found["slices"]) == len(evaluation.slices)
    assert found["methods"][2]["scores"]["auc"]["low"] is None
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
    assert not plain.audit.is_training_file
    found = plain.with_files(model=tmp_path / "model.lann", data=tmp_path / "rows.csv", notes=["Odd."])
    assert found.audit.data_file == file
    assert found.audit.model_file.name == "model.lann"
    assert found.audit.is_training_file
    assert found.notes[0].startswith("The test file is the training file")
    assert found.notes[1:] == ("Odd.",)
    assert [method.method for method in found.audit.cross_validation] == ["LANN", "kNN", "majority"]
    assert found.audit.cross_validation[0].n_folds == 2
    assert found.audit.cross_validation[0].random_state == 0


def test_unseen_categories_are_a_note(make_table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        model = TableModel.fit(make_table(), "group", id="name")
    test = make_table(40, seed=1)
    test.loc[0, "color"] = "mauve"
    with warnings.catch_warnings():
        warnings.simplefilter("error", TableWarning)
        evaluation = evaluate(model, test, **QUICK)
    assert "Column 'color' has values that the training data do not have: 'mauve'." in evaluation.notes

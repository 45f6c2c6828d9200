import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, balanced_accuracy_score, log_loss, roc_auc_score

from lann import LANNClassifier
from lann.tables import TrainingTable, cross_validate
from lann.tables._cross_validation import scores_of

METHODS = ("LANN", "kNN", "majority")


def test_scores_of_every_fold(two_groups):
    done = []
    table = TrainingTable.from_frame(two_groups(60), "c")
    scores = cross_validate(table, n_folds=3, callback=lambda *counts: done.append(counts))
    assert scores[["fold", "method"]].values.tolist() == [[f, m] for f in range(3) for m in METHODS]
    assert scores["accuracy"].between(0.5, 1).all()
    # The classes are of equal size.
    np.testing.assert_allclose(scores["accuracy"], scores["balanced_accuracy"])
    recalls = scores[["recall of 0", "recall of 1"]]
    np.testing.assert_allclose(recalls.mean(axis=1), scores["balanced_accuracy"])
    guess = scores[scores["method"] == "majority"]
    np.testing.assert_allclose(guess[["accuracy", "auc"]], 0.5)
    np.testing.assert_allclose(guess["log_loss"], np.log(2))
    assert {(1, 3), (2, 3), (3, 3)} <= set(done)
    assert done == sorted(done)
    if hasattr(LANNClassifier, "set_callbacks"):  # the epochs of every fold are reported
        assert len(done) > 10


def test_scores_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    labels, probabilities = np.arange(60) % 3, rng.dirichlet(np.ones(3), 60)
    weights = rng.random(60) + 0.1
    classes = np.array(["u", "v", "w"])
    found = scores_of(classes, classes[labels], probabilities, weights)
    predictions = probabilities.argmax(axis=1)
    assert found["accuracy"] == pytest.approx(accuracy_score(labels, predictions, sample_weight=weights))
    expected = balanced_accuracy_score(labels, predictions, sample_weight=weights)
    assert found["balanced_accuracy"] == pytest.approx(expected)
    expected = log_loss(labels, probabilities, sample_weight=weights)
    assert found["log_loss"] == pytest.approx(expected)
    expected = roc_auc_score(labels, probabilities, multi_class="ovr", sample_weight=weights)
    assert found["auc"] == pytest.approx(expected)


def test_classes_that_a_fold_does_not_have():
    probabilities = np.array([[0.7, 0.2, 0.1], [0.6, 0.3, 0.1], [0.2, 0.7, 0.1]])
    found = scores_of(np.array(["u", "v", "w"]), np.array(["u", "v", "v"]), probabilities, None)
    assert found["recall of u"] == 1
    assert found["recall of v"] == 0.5
    assert np.isnan(found["recall of w"])
    assert found["balanced_accuracy"] == 0.75
    assert found["auc"] == 1
    one = scores_of(np.array(["u", "v"]), np.array(["u", "u"]), probabilities[:2, :2], None)
    assert np.isnan(one["auc"])


def test_a_class_with_one_row_is_only_trained_on(two_groups, table_warnings):
    frame = two_groups(40)
    frame.loc[0, "c"] = 2
    table = TrainingTable.from_frame(frame, "c")
    scores, messages = table_warnings(cross_validate, table, LANNClassifier(max_iter=0))
    assert messages == ["Class '2' has one row only and is left out of the test rows."]
    assert scores["fold"].nunique() == 5
    assert scores["recall of 2"].isna().all()
    assert scores[["accuracy", "auc", "log_loss"]].notna().all(axis=None)
    frame.loc[:3, "c"] = [2, 2, 3, 3]  # fewer rows than folds
    scores, messages = table_warnings(cross_validate, TrainingTable.from_frame(frame, "c"))
    assert messages == []
    lann = scores[scores["method"] == "LANN"]
    assert len(lann) == 5
    assert lann["recall of 2"].notna().sum() == 2


def test_columns_that_a_fold_cannot_learn_from(two_groups):
    """The only other value of a column is in one fold; so are the gaps of the only column."""
    frame = two_groups(40)
    frame["rare"] = [*["x"], *["y"] * 39]
    frame["gap"] = np.where(np.arange(40) == 7, 1.0, np.nan)
    scores = cross_validate(TrainingTable.from_frame(frame, "c", drop=["gap"]), n_folds=3)
    assert scores["accuracy"].between(0, 1).all()
    one = two_groups(40).drop(columns="b")
    one.loc[5, "a"] = np.nan
    scores = cross_validate(TrainingTable.from_frame(one, "c"), n_folds=3)
    assert scores["log_loss"].notna().all()


def test_bools_and_dates(two_groups):
    frame = two_groups(60)
    frame["member"] = pd.array([True, False, None] * 20, dtype="boolean")
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(60), "D")
    frame.loc[3, "day"] = pd.NaT
    scores = cross_validate(TrainingTable.from_frame(frame, "c"), n_folds=2)
    assert scores.groupby("method")["accuracy"].mean()["kNN"] > 0.5


def test_weights_count_in_training_and_scores(two_groups):
    frame = two_groups(60)
    light = np.arange(60) % 5 == 0
    frame.loc[light, "c"] = 1 - frame.loc[light, "c"]  # wrong labels that hardly count
    table = TrainingTable.from_frame(frame, "c")
    weighted = TrainingTable.from_frame(frame.assign(w=np.where(light, 1e-6, 1.0)), "c", sample_weight="w")
    scores, weighted_scores = (cross_validate(some, n_folds=3) for some in (table, weighted))
    means = scores.groupby("method")["accuracy"].mean()
    weighted_means = weighted_scores.groupby("method")["accuracy"].mean()
    assert weighted_means["LANN"] > means["LANN"] + 0.1
    assert weighted_means["LANN"] > weighted_means["kNN"]

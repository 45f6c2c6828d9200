import numpy as np
import pytest

from lann import LANNClassifier
from lann.tables import TrainingTable, cross_validate


def test_scores_of_every_fold(two_groups):
    done = []
    table = TrainingTable.from_frame(two_groups(60), "c")
    scores = cross_validate(table, n_folds=3, callback=lambda *counts: done.append(counts))
    assert scores[["fold", "method"]].values.tolist() == [[f, m] for f in range(3) for m in ("LANN", "kNN")]
    assert scores["accuracy"].between(0.5, 1).all()
    # The classes are of equal size.
    np.testing.assert_allclose(scores["accuracy"], scores["balanced_accuracy"])
    assert done == [(1, 3), (2, 3), (3, 3)]


def test_small_classes_reduce_the_folds(two_groups):
    frame = two_groups(40)
    frame.loc[:2, "c"] = 2
    table = TrainingTable.from_frame(frame, "c")
    assert cross_validate(table, LANNClassifier(max_iter=0))["fold"].nunique() == 3
    frame.loc[1:2, "c"] = 0
    with pytest.raises(ValueError, match="Class '2' has one row only"):
        cross_validate(TrainingTable.from_frame(frame, "c"))


def test_more_neighbors_than_training_rows(two_groups):
    table = TrainingTable.from_frame(two_groups(4), "c")
    with pytest.raises(ValueError, match="n_neighbors=3 is more than the 2 rows that each fold trains on"):
        cross_validate(table, LANNClassifier(3))


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

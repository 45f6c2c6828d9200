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

import numpy as np
import pytest

from lann.tables import ConfusedPair, EmbeddedTable
from lann.tables._embedded_table import NO_LABEL


@pytest.fixture
def embedded():
    """Return a function that makes an embedding with random predictions."""

    def make(n_rows, n_new=0):
        rng = np.random.default_rng(0)
        classes = rng.integers(3, size=(3, n_rows))
        return EmbeddedTable(
            n_train=n_rows - n_new,
            is_held_out=np.arange(n_rows) >= n_rows - n_new,
            row_numbers=np.arange(n_rows),
            ids=None,
            coordinates=rng.normal(size=(n_rows, 2)),
            classes=["a", "b", "c"],
            labels=classes[0],
            predictions=classes[1],
            confidences=rng.random(n_rows),
            embedding_predictions=classes[2],
            neighbors=np.zeros((n_rows, 1), np.int64),
            vote_shares=np.ones((n_rows, 1)),
            feature_names=["u", "v", "w"],
            relevances=rng.random((n_rows, 3)),
            values=None,
        )

    return make


def test_accuracies_by_class(embedded):
    table = embedded(60, n_new=20)
    table.labels[50:] = NO_LABEL
    summary = table.summarize()
    for index, line in enumerate(summary.by_class):
        own = np.flatnonzero(table.labels == index)
        for accuracy, rows in ((line.training, own[own < 40]), (line.held_out, own[own >= 40])):
            assert accuracy.n_rows == len(rows)
            assert accuracy.by_vote == np.mean(table.predictions[rows] == index)
            assert accuracy.in_embedding == np.mean(table.embedding_predictions[rows] == index)
    assert summary.overall.training.n_rows == 40
    assert summary.overall.held_out.n_rows == 10


def test_without_labels_of_held_out_rows_there_are_no_such_accuracies(embedded):
    table = embedded(60, n_new=20)
    table.labels[40:] = NO_LABEL
    assert not table.summarize().has_held_out
    assert not embedded(60).summarize().has_held_out


def test_pairs_are_counted_in_both_directions(embedded):
    table = embedded(9)
    table.labels[:] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    table.embedding_predictions[:] = [0, 1, 1, 1, 0, 1, 2, 2, 0]
    assert table.summarize().pairs == [ConfusedPair(0, 1, 3, 6), ConfusedPair(0, 2, 1, 6)]


def test_features_without_relevance_are_not_listed(embedded):
    """Rounding leaves relevances such as 1e-16."""
    table = embedded(3)
    table.relevances[:] = [0.5, 1e-16, 0.0]
    table.relevances[2, 0] = 1e-17
    frame = table.to_frame(2)
    assert frame["feature_1"].fillna("").tolist() == ["u", "u", ""]
    assert frame["relevance_1"].fillna(0).tolist() == [0.5, 0.5, 0]
    assert frame[["feature_2", "relevance_2"]].isna().all(axis=None)

import numpy as np
import pandas as pd
import pytest

from lann import LANNEmbedding
from lann.tables import EmbeddedTable, TableModel, TrainingTable
from lann.tables._embedding import NO_LABEL

QUICK = LANNEmbedding(max_iter=20, random_state=0)


@pytest.fixture(scope="module")
def flowers():
    """Return a function that makes a table of three classes, the last two of which overlap."""

    def make(n_rows=90, seed=0):
        rng = np.random.default_rng(seed)
        kind = np.arange(n_rows) % 3
        frame = pd.DataFrame(
            {
                "plant": [f"plant {row}" for row in range(n_rows)],
                "length": (kind + rng.normal(0, 0.45, n_rows)).round(3),
                "width": rng.normal(size=n_rows).round(3),
                "color": np.where(rng.random(n_rows) < 0.8, np.array(["red", "blue", "blue"])[kind], "green"),
                "species": np.array(["setosa", "versicolor", "virginica"])[kind],
            }
        )
        frame.loc[4, "length"] = np.nan
        frame.loc[7, "color"] = np.nan
        return frame

    return make


@pytest.fixture(scope="module")
def model(flowers):
    return TableModel.fit(flowers(), "species", id="plant")


@pytest.fixture(scope="module")
def held_out(flowers):
    """An embedding with held-out rows; the row 11 has no label."""
    frame = flowers()
    frame.loc[11, "species"] = np.nan
    with pytest.warns(match="1 row has no 'species'"):
        training, rows = TrainingTable.from_frame(frame, "species", id="plant").split(0.3)
    return frame, training.fit().embed(frame, rows, embedding=QUICK)


def test_every_row_is_there_once(held_out):
    frame, embedded = held_out
    assert sorted(embedded.row_numbers) == [row for row in range(90) if row != 11]
    assert (embedded.ids == frame["plant"][embedded.row_numbers]).all()
    labels = np.array(embedded.classes)[embedded.labels]
    assert (labels == frame["species"][embedded.row_numbers]).all()
    assert embedded.is_held_out.sum() == embedded.n_new == 27
    assert np.bincount(embedded.labels[embedded.is_held_out]).max() == 9  # stratified
    assert np.isfinite(embedded.coordinates).all()
    assert (embedded.confidences >= 1 / 3).all()
    assert embedded.confidences.max() <= 1
    assert embedded.feature_names == ["length", "width", "color"]
    assert repr(embedded) == "<EmbeddedTable of 62 training rows and 27 new rows>"


def test_training_rows_are_predicted_without_themselves(held_out):
    frame, embedded = held_out
    rows = embedded.row_numbers[: embedded.n_train]
    table = TrainingTable.from_frame(frame.iloc[rows], "species", id="plant")
    model = table.fit()
    distances, neighbors = model.classifier.kneighbors()
    votes = model.classifier.model_.vote(neighbors, distances**2)
    np.testing.assert_array_equal(
        embedded.predictions[: embedded.n_train], votes.probabilities.argmax(axis=1)
    )
    np.testing.assert_allclose(
        embedded.confidences[: embedded.n_train], votes.probabilities.max(axis=1).clip(max=1)
    )
    # New rows are predicted as by `predict`.
    predictions = model.predict(frame.iloc[embedded.row_numbers[embedded.n_train :]])["prediction"]
    found = np.array(embedded.classes)[embedded.predictions[embedded.n_train :]]
    assert found.tolist() == predictions.tolist()


def test_relevances_are_those_of_the_explanation(model, flowers):
    new = flowers(12, seed=1)
    embedded = model.embed(new, embedding=QUICK)
    explanation = model.explain(new)
    np.testing.assert_allclose(embedded.relevances[90:], explanation.relevances)
    np.testing.assert_allclose(embedded.relevances[:90], model.explain(flowers()).relevances)


def test_the_training_rows_of_a_model_alone(model):
    embedded = model.embed(embedding=QUICK)
    assert len(embedded) == embedded.n_train == 90
    assert not embedded.is_held_out.any()
    assert embedded.ids.tolist() == [f"plant {row}" for row in range(90)]
    np.testing.assert_array_equal(embedded.coordinates, model.embed(embedding=QUICK).coordinates)


def test_new_rows_may_have_labels_that_no_training_row_has(model, flowers):
    new = flowers(12, seed=1)
    new.loc[0, "species"] = "rosa"
    new.loc[1, "species"] = np.nan
    embedded = model.embed(new, embedding=QUICK)
    assert embedded.classes == ["setosa", "versicolor", "virginica", "rosa"]
    assert embedded.labels[90:92].tolist() == [3, -1]
    rosa = embedded.summarize()["by_class"][3]
    assert rosa["training"]["n_rows"] == rosa["held_out"]["by_vote"] == 0
    assert rosa["held_out"]["n_rows"] == 1


def test_new_rows_that_are_training_rows_do_not_count_as_held_out(model, flowers, table_warnings):
    embedded, messages = table_warnings(model.embed, flowers(), embedding=QUICK, id="plant")
    assert messages == [
        "90 of 90 new rows (100%) have the values of training rows; they do not count as held-out rows."
    ]
    assert not embedded.is_held_out.any()
    frame = embedded.to_frame()
    pd.testing.assert_frame_equal(frame[:90], frame[90:].reset_index(drop=True))


def test_invalid_arguments(model, flowers):
    with pytest.raises(ValueError, match="no table is given"):
        model.embed(id="plant")
    with pytest.raises(ValueError, match="no column 'x' in the table for target"):
        model.embed(flowers(), target="x")
    with pytest.raises(ValueError, match="n_components must be an integer"):
        model.embed(embedding=LANNEmbedding(n_components=3))


@pytest.fixture
def make_embedded():
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
            feature_names=["u", "v", "w"],
            relevances=rng.random((n_rows, 3)),
        )

    return make


def test_accuracies_by_class(make_embedded):
    table = make_embedded(60, n_new=20)
    table.labels[50:] = NO_LABEL
    summary = table.summarize()
    for index, line in enumerate(summary["by_class"]):
        own = np.flatnonzero(table.labels == index)
        for accuracy, rows in ((line["training"], own[own < 40]), (line["held_out"], own[own >= 40])):
            assert accuracy["n_rows"] == len(rows)
            assert accuracy["by_vote"] == np.mean(table.predictions[rows] == index)
            assert accuracy["in_embedding"] == np.mean(table.embedding_predictions[rows] == index)
    assert summary["overall"]["training"]["n_rows"] == 40
    assert summary["overall"]["held_out"]["n_rows"] == 10


def test_without_labels_of_held_out_rows_there_are_no_such_accuracies(make_embedded):
    table = make_embedded(60, n_new=20)
    table.labels[40:] = NO_LABEL
    assert not table.summarize()["has_held_out"]
    assert not make_embedded(60).summarize()["has_held_out"]


def test_pairs_are_counted_in_both_directions(make_embedded):
    table = make_embedded(9)
    table.labels[:] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    table.embedding_predictions[:] = [0, 1, 1, 1, 0, 1, 2, 2, 0]
    pairs = [tuple(pair.values()) for pair in table.summarize()["pairs"]]
    assert pairs == [(0, 1, 3, 6), (0, 2, 1, 6)]

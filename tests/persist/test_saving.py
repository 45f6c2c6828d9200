"""What cannot be saved raises one sentence, and leaves an old file as it is."""

import os

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, LANNEmbedding, save
from lann.baselines import LMNN, PublishedLANN
from lann.embedding import NeighborEmbedding


class Own(LANNClassifier):
    pass


def test_other_objects_are_named(data, save_fails):
    X, y = data
    save_fails("text", "type str")
    save_fails(LANNClassifier, "type type")
    save_fails(LogisticRegression().fit(X, y), "type LogisticRegression")
    save_fails(Own(max_iter=0).fit(X, y), "type Own")


def test_a_pipeline_is_to_be_saved_by_other_means(data, save_fails):
    model = make_pipeline(StandardScaler(), LANNClassifier(max_iter=0)).fit(*data)
    save_fails(model, "A Pipeline cannot be saved .* joblib, or give the table to the classifier itself")


@pytest.mark.parametrize("model", [LANNClassifier(), LMNN(), NeighborEmbedding(), LANNEmbedding()], ids=repr)
def test_a_model_that_is_not_fitted_raises(model, save_fails):
    save_fails(model, "not fitted", NotFittedError)


def test_the_old_file_stays_if_writing_fails(classifier, save_fails, monkeypatch):
    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    save_fails(classifier, "No space left", OSError)


def test_an_invalid_path_raises(classifier, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(classifier, tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(classifier, tmp_path / "none" / "m.lann")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0),
        ("alpha", np.nan),
        ("metric", "cosine"),
        ("class_weight", {"up": -1.0}),
        ("class_weight", {"up": object()}),
        ("levels", ("points",)),
        ("random_state", "seed"),
    ],
)
def test_an_invalid_parameter_is_named(name, value, data, save_fails):
    save_fails(LANNClassifier(max_iter=0).fit(*data).set_params(**{name: value}), name)


class Broken:
    """A model whose parts can be changed."""

    def __init__(self, data):
        self.model = LANNClassifier(max_iter=0).fit(*data, sample_weight=1.0 + np.arange(60) % 3)
        self.model.explain(data[0][:1])

    def set_level(self, name, change):
        levels = self.model.model_.levels
        self.model.model_.levels = levels.replace(**{name: change(getattr(levels, name))})
        return self.model

    def set_curve(self, name, change):
        curves = self.model.curves_
        setattr(curves, name, change(getattr(curves, name)))
        return self.model

    def set_landmarks(self, name, value):
        setattr(self.model.model_.derived["landmarks"], name, value)
        return self.model

    def set_spacing(self, name, value):
        setattr(self.model.model_.derived["spacing"], name, value)
        return self.model

    def set(self, name, value):
        setattr(self.model, name, value)
        return self.model


@pytest.fixture
def broken(data):
    return Broken(data)


def some(value, array, where=0):
    array = array.copy()
    array.flat[where] = value
    return array


BREAKS = {
    "rows of another number": lambda b: b.set_level("X", lambda X: X[:-1]),
    "rows in float16": lambda b: b.set_level("X", lambda X: X.astype(np.float16)),
    "infinite rows": lambda b: b.set_level("X", lambda X: some(np.inf, X)),
    "labels out of range": lambda b: b.set_level("labels", lambda labels: labels + 1),
    "negative labels": lambda b: b.set_level("labels", lambda labels: labels - 1),
    "float labels": lambda b: b.set_level("labels", lambda labels: labels.astype(float)),
    "labels as a list": lambda b: b.set_level("labels", lambda labels: labels.tolist()),
    "axes without a map": lambda b: b.set_level("class_log_weights", lambda w: w[:, :-1]),
    "weights that overflow": lambda b: b.set_level("point_log_weights", lambda w: some(701.0, w)),
    "weights that are not finite": lambda b: b.set_level("class_log_weights", lambda w: some(-np.inf, w)),
    "another shape of the map": lambda b: b.set_level("components", lambda none: np.eye(4)[:, :3]),
    "NaN in the map": lambda b: b.set_level("components", lambda none: some(np.nan, np.eye(4))),
    "matrices of another shape": lambda b: b.set_level("point_matrices", lambda none: np.zeros((60, 3, 3))),
    "too few row weights": lambda b: b.set_level("row_weights", lambda w: w[:-1]),
    "row weights in float32": lambda b: b.set_level("row_weights", lambda w: w.astype(np.float32)),
    "row weight 0": lambda b: b.set_level("row_weights", lambda w: some(0.0, w)),
    "negative row weight": lambda b: b.set_level("row_weights", lambda w: some(-1.0, w)),
    "huge row weight": lambda b: b.set_level("row_weights", lambda w: some(1e200, w)),
    "NaN as row weight": lambda b: b.set_level("row_weights", lambda w: some(np.nan, w)),
    "slopes of other features": lambda b: b.set_curve("slopes", lambda slopes: slopes[:-1]),
    "too many edges": lambda b: b.set_curve("edges", lambda edges: np.zeros((4, 5))),
    "thresholds without jumps": lambda b: b.set_curve("thresholds", lambda t: np.zeros((4, 2))),
    "landmark out of range": lambda b: b.set_landmarks("rows", np.arange(60) + 1),
    "too few landmarks": lambda b: b.set_landmarks("rows", np.arange(59)),
    "landmarks in another order": lambda b: b.set_landmarks("rows", np.arange(60)[::-1].copy()),
    "a feature that is not there": lambda b: b.set_landmarks("correlated", ((0, 4),)),
    "a feature in two groups": lambda b: b.set_landmarks("correlated", ((0, 1), (1, 2))),
    "spacing of a row out of range": lambda b: b.set_spacing("rows", np.arange(60) + 1),
    "spacing of too few rows": lambda b: b.set_spacing("rows", np.arange(59)),
    "a negative distance": lambda b: b.set_spacing("distances", np.full(60, -1.0)),
    "a limit that is not finite": lambda b: b.set_spacing("limit", np.nan),
    "weight unit 0": lambda b: b.set("_weight_unit", 0.0),
    "weight unit above 1": lambda b: b.set("_weight_unit", 2.0),
    "weight unit NaN": lambda b: b.set("_weight_unit", np.nan),
    "weight unit as text": lambda b: b.set("_weight_unit", "1"),
    "weight unit None": lambda b: b.set("_weight_unit", None),
    "classes of another number": lambda b: b.set("classes_", np.array(["a", "b", "c"])),
    "classes in another order": lambda b: b.set("classes_", np.array(["b", "a"])),
    "classes that are equal": lambda b: b.set("classes_", np.array(["a", "a"])),
    "classes of objects": lambda b: b.set("classes_", np.array([1, None], dtype=object)),
    "features of another number": lambda b: b.set("n_features_in_", 3),
    "names of another number": lambda b: b.set("feature_names_in_", np.array(["a"], object)),
    "a level that is not there": lambda b: b.set("levels_", ("points",)),
    "a level twice": lambda b: b.set("levels_", ("map", "map")),
    "no model": lambda b: b.set("model_", None),
    "no vote": lambda b: b.set("vote_", None),
}  # fmt: skip


@pytest.mark.parametrize("change", BREAKS.values(), ids=BREAKS)
def test_parts_that_do_not_fit_raise(change, broken, save_fails):
    save_fails(change(broken), r"The model cannot be saved: .*\.$")


EMBEDDING_BREAKS = [
    ("embedding_", lambda coordinates: coordinates[:-1]),
    ("embedding_", lambda coordinates: coordinates.astype(np.float32)),
    ("embedding_", lambda coordinates: some(np.nan, coordinates)),
    ("neighbors_", lambda lists: lists + 100),
    ("neighbors_", lambda lists: lists - 100),
    ("neighbors_", lambda lists: lists[:, :-1]),
    ("n_neighbors", lambda number: 0),
    ("n_neighbors", lambda number: True),
    ("n_features_in_", lambda number: 3),
    ("distances_", lambda lengths: np.full_like(lengths, np.nan)),
    ("distances_", lambda lengths: -1.0 - lengths),
    ("classifier", lambda clf: 5),
    ("_n_features_out", lambda number: 7),
    ("_scale", lambda scale: 0.0),
    ("_scale", lambda scale: 1e-320),
    ("_scale", lambda scale: "wide"),
    ("classifier_", lambda clf: None),
    ("classifier_", lambda clf: PublishedLANN(1, max_iter=0).fit(np.eye(4), [0, 1, 0, 1])),
]


@pytest.mark.parametrize(("name", "change"), EMBEDDING_BREAKS)
def test_parts_of_an_embedding_that_do_not_fit_raise(name, change, data, save_fails):
    X, y = data
    clf = LANNClassifier(max_iter=0, n_neighbors=5)
    embedding = LANNEmbedding(clf, method="tsne", max_iter=250, n_neighbors=5, random_state=0).fit(X, y)
    setattr(embedding, name, change(getattr(embedding, name)))
    save_fails(embedding, r"The model cannot be saved: .*\.$")

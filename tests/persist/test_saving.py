"""What cannot be saved raises one sentence, and leaves an old file as it is."""

import copy
import math
import os

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, LANNEmbedding, save
from lann.baselines import LMNN, PublishedLANN
from lann.embedding import NeighborEmbedding
from lann.persist import read_model_file


class Own(LANNClassifier):
    pass


def test_other_objects_are_named(data, save_fails):
    X, y = data
    save_fails("text", "has to be one of LANNClassifier, .* and is 'str'")
    save_fails(Own(max_iter=0).fit(X, y), "and is 'Own'")
    model = make_pipeline(StandardScaler(), LANNClassifier(max_iter=0)).fit(X, y)
    save_fails(model, "and is 'Pipeline'")


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
        ("alpha", np.nan),
        ("metric", "cosine"),
        ("class_weight", {"up": object()}),
    ],
)
def test_an_invalid_parameter_is_named(name, value, data, save_fails):
    save_fails(LANNClassifier(max_iter=0).fit(*data).set_params(**{name: value}), name)


BREAKS = {
    "a model of other rows": ("model_", lambda model: None),
    "weight unit 0": ("_weight_unit", lambda unit: 0.0),
    "classes of another number": ("classes_", lambda classes: np.array(["a", "b", "c"])),
    "classes in another order": ("classes_", lambda classes: classes[::-1].copy()),
    "classes of objects": ("classes_", lambda classes: np.array([1, None], dtype=object)),
    "features of another number": ("n_features_in_", lambda number: 3),
    "names of another number": ("feature_names_in_", lambda names: names[:1]),
}


@pytest.mark.parametrize(("name", "change"), BREAKS.values(), ids=BREAKS)
def test_attributes_that_do_not_agree_raise(name, change, data, save_fails):
    clf = LANNClassifier(max_iter=0).fit(*data)
    setattr(clf, name, change(getattr(clf, name)))
    save_fails(clf, r"The model cannot be saved: .*\.$")


EMBEDDING_BREAKS = [
    ("embedding_", lambda coordinates: coordinates[:-1]),
    ("embedding_", lambda coordinates: coordinates * np.nan),
    ("neighbors_", lambda lists: lists + 100),
    ("_scale", lambda scale: 0.0),
    ("classifier_", lambda clf: None),
    ("classifier_", lambda clf: PublishedLANN(1, max_iter=0).fit(np.eye(4), [0, 1, 0, 1])),
]


@pytest.fixture(scope="module")
def embedding(data):
    clf = LANNClassifier(max_iter=0, n_neighbors=5)
    return LANNEmbedding(clf, method="tsne", max_iter=250, n_neighbors=5, random_state=0).fit(*data)


@pytest.mark.parametrize(("name", "change"), EMBEDDING_BREAKS)
def test_attributes_of_an_embedding_that_do_not_agree_raise(name, change, embedding, save_fails):
    broken = copy.copy(embedding)
    setattr(broken, name, change(getattr(broken, name)))
    save_fails(broken, r"The model cannot be saved: .*\.$")


# How far a run over a stream has come

PROGRESS = {
    "n_rows": 2**62,
    "accuracy": 0.1 + 0.2,
    "tiny": 5e-324,
    "names": ["größe", None, True],
    "counts": [[1, 2], [3, 4]],
}


def test_progress_comes_back_to_the_bit(classifier, data, tmp_path):
    save(classifier, tmp_path / "model.lann", progress=PROGRESS)
    file = read_model_file(tmp_path / "model.lann")
    assert file.progress == PROGRESS
    assert (file.model.predict(data[0]) == classifier.predict(data[0])).all()


@pytest.mark.parametrize("progress", [{"a": math.nan}, {"a": object()}, [1]])
def test_what_json_cannot_express_is_not_saved(classifier, saved, progress):
    content = saved.read_bytes()
    with pytest.raises(ValueError, match="The model cannot be saved"):
        save(classifier, saved, progress=progress)
    assert saved.read_bytes() == content

"""Saved embeddings transform new rows as before, without umap; invalid ones raise."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, LANNEmbedding, load, save
from lann.embedding import NeighborEmbedding
from lann.persist._consistency import check_model
from lann.persist._errors import InvalidModelFile

QUICK = {"max_iter": 20, "random_state": 0}


@pytest.fixture(scope="module")
def halves(iris):
    X, y = iris
    return X[::2], y[::2], X[1::2]


@pytest.fixture
def embedding(halves):
    X, y, _ = halves
    return LANNEmbedding(LANNClassifier(max_iter=1), **QUICK).fit(X, y)


@pytest.mark.parametrize("method", ["umap", "densmap"])
@pytest.mark.parametrize("kind", ["fitted with it", "given", "euclidean", "pipeline"])
def test_places_the_same_bits(kind, method, halves, tmp_path):
    X, y, new = halves
    model = {
        "fitted with it": LANNEmbedding(LANNClassifier(metric="full", max_iter=1), **QUICK),
        "given": LANNEmbedding(FrozenEstimator(LANNClassifier(max_iter=1).fit(X, y)), **QUICK),
        "euclidean": NeighborEmbedding(**QUICK),
        "pipeline": make_pipeline(StandardScaler(), LANNEmbedding(**QUICK)),
    }[kind]
    model.set_params(**{"lannembedding__method" if kind == "pipeline" else "method": method}).fit(X, y)
    save(model, tmp_path / "embedding.skops")
    loaded = load(tmp_path / "embedding.skops")
    assert type(loaded) is type(model)
    assert np.array_equal(loaded.transform(new), model.transform(new))


def test_placing_needs_no_umap(embedding, tmp_path, in_new_process, halves):
    save(embedding, tmp_path / "embedding.skops")
    coordinates = in_new_process(f"""
        import json, sys
        from lann import load

        sys.modules["umap"] = None
        embedding = load({str(tmp_path / "embedding.skops")!r})
        print(json.dumps(embedding.transform([{halves[2][0].tolist()}]).tolist()))
    """)
    assert coordinates == embedding.transform(halves[2][:1]).tolist()


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("embedding_", lambda coordinates: coordinates[:-1]),
        ("embedding_", lambda coordinates: coordinates.astype(np.float32)),
        ("embedding_", lambda coordinates: np.where(coordinates == coordinates.max(), np.nan, coordinates)),
        ("neighbors_", lambda lists: lists + 1),
        ("neighbors_", lambda lists: -lists),
        ("neighbors_", lambda lists: lists[:, :-1]),
        ("n_neighbors", lambda number: 0),
        ("n_components", lambda number: 3),
        ("n_features_in_", lambda number: 3),
        ("n_neighbors", lambda number: True),
        ("distances_", lambda lengths: np.full_like(lengths, np.nan)),
        ("classifier", lambda clf: 5),
        ("_n_features_out", lambda number: 7),
        ("_scale", lambda scale: 0.0),
        ("_scale", lambda scale: 1e-320),
        ("_scale", lambda scale: "wide"),
        ("classifier_", lambda clf: None),
        ("model_", lambda model: None),
    ],
)
def test_parts_that_do_not_fit_raise(embedding, name, change):
    check_model(embedding)
    setattr(embedding, name, change(getattr(embedding, name)))
    with pytest.raises(
        InvalidModelFile, match="LANNEmbedding is incomplete, or its parts do not fit together"
    ):
        check_model(embedding)


def test_a_foreign_classifier_raises(embedding, iris):
    X, y = iris
    embedding.classifier_ = LANNClassifier(max_iter=0).fit(X[:60], y[:60])
    with pytest.raises(InvalidModelFile, match="do not fit together"):
        check_model(embedding)


@pytest.mark.parametrize("frozen", [False, True])
def test_callbacks_of_its_classifier_are_not_saved(frozen, halves, tmp_path):
    callbacks = pytest.importorskip("sklearn.callback")
    X, y, new = halves
    clf = LANNClassifier(max_iter=1, random_state=0).set_callbacks(callbacks.ProgressBar())
    embedding = LANNEmbedding(FrozenEstimator(clf.fit(X, y)) if frozen else clf, **QUICK).fit(X, y)
    save(embedding, tmp_path / "embedding.skops")
    assert np.array_equal(load(tmp_path / "embedding.skops").transform(new), embedding.transform(new))

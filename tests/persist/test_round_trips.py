"""What is loaded is what was saved: results to the bit, parameters and fitted attributes."""

import inspect
import io
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from lann import LANNClassifier, LANNEmbedding, load, save
from lann.baselines import DANN, GMLVQ, LGMLVQ, LMNN, PLML, MultiMetricLMNN, PublishedLANN
from lann.embedding import NeighborEmbedding
from lann.persist import CrossValidatedMethod, TableRecord, load_with_table
from lann.persist._model_file import ESTIMATORS, is_sharded, to_bytes
from tests.common.estimators import CASES, Case, public_estimators
from tests.versions import WITH_EARLIER_VERSIONS

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Configurations whose files differ from those of the common checks.
MORE_CASES = [
    Case(LANNClassifier, {"n_candidates": None}),
    Case(LANNClassifier, {"n_candidates": np.int64(20), "n_neighbors": np.int64(3)}),
    Case(LANNClassifier, {"class_weight": {0: 2.0, 2: np.float64(0.5)}}),
    Case(LANNClassifier, {"levels": ["curves", "point"]}),
    Case(LANNClassifier, {"levels": (), "max_iter": 0}),
    Case(PublishedLANN, {"metric": "low_rank", "n_components": 2, "temperature": "auto"}),
    Case(LMNN, {"weights": "distance", "n_components": 2}),
    Case(LMNN, {"init": np.eye(4)[::-1]}),
    Case(LMNN, {"init": np.eye(4)[:2].tolist()}),
    Case(MultiMetricLMNN, {"groups": 2, "n_components": 3}),
    Case(MultiMetricLMNN, {"groups": np.repeat(["a", "b", "c"], 50)}),
    Case(DANN, {"weights": "distance", "n_metric_neighbors": 30, "max_iter": 2}),
    Case(PLML, {"n_components": 2, "n_anchors": 4}),
    Case(PLML, {"n_components": 0.9, "weights": "distance"}),
    Case(GMLVQ, {"n_components": 2, "prototypes_per_class": 3}),
    Case(LGMLVQ, {"metric_per": "class", "prototypes_per_class": 2}),
    Case(LANNEmbedding, {"classifier": LMNN(max_iter=3), "method": "tsne", "max_iter": 250}),
    Case(NeighborEmbedding, {"method": "tsne", "max_iter": 250, "n_components": 3}),
]


def round_trip(model, tmp_path):
    save(model, tmp_path / "model.lann")
    return load(tmp_path / "model.lann")


def assert_equal(one, other, name="model"):
    """Compare values, also of objects whose attributes are values, by type and to the bit."""
    one, other = (value.item() if isinstance(value, np.generic) else value for value in (one, other))
    assert type(one) is type(other), name
    if isinstance(one, np.ndarray):
        assert one.dtype == other.dtype, name
        np.testing.assert_array_equal(one, other, err_msg=name)
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), name
        for number, pair in enumerate(zip(one, other, strict=True)):
            assert_equal(*pair, f"{name}[{number}]")
    elif isinstance(one, dict):
        assert one.keys() == other.keys(), name
        for key in one:
            assert_equal(one[key], other[key], f"{name}[{key!r}]")
    elif type(one).__module__.startswith("lann"):
        state = [
            value.__getstate__() if type(value).__getstate__ is not object.__getstate__ else vars(value)
            for value in (one, other)
        ]
        assert_equal(*state, name)
    else:
        assert one == other or one is other or (one != one and other != other), name


def fitted_attributes(model):
    """Return the attributes that a user can read, those that are computed on access included."""
    properties = [
        n for n, v in inspect.getmembers(type(model)) if isinstance(v, property) and n.endswith("_")
    ]
    names = [name for name in [*vars(model), *properties] if name.endswith("_") and not name.startswith("_")]
    # A file has no spare columns of memories; see tests/persist/test_streams.py.
    names = [name for name in names if name != "memories_"]
    return {name: getattr(model, name) for name in sorted(set(names))}


# Folders with a file for each shard: tests/persist/test_sharded.py.
IN_ONE_FILE = [case for case in CASES if not is_sharded(case.make())]


@pytest.fixture(scope="module", params=[*IN_ONE_FILE, *MORE_CASES], ids=repr)
def case(request):
    return request.param


@pytest.fixture(scope="module")
def model(case):
    return case.fitted(n_jobs=1) if "n_jobs" in case.make().get_params() else case.fitted()


def test_results_parameters_and_attributes_come_back(case, model, tmp_path):
    loaded = round_trip(model, tmp_path)
    assert type(loaded) is type(model)
    assert_equal(case.result(loaded), case.result(model))
    for name, value in loaded.get_params(deep=False).items():
        if name == "n_jobs":
            assert value is None
        elif name in ("classifier", "estimator"):
            assert repr(value) == repr(getattr(model, name))
        else:
            given = getattr(model, name)
            np.testing.assert_array_equal(value, given)
            assert isinstance(value, tuple) == isinstance(given, tuple)
    attributes = fitted_attributes(model)
    assert {"n_features_in_"} < attributes.keys() <= fitted_attributes(loaded).keys()
    assert fitted_attributes(loaded).keys() <= attributes.keys()
    for name, value in attributes.items():
        if name not in ("classifier_", "estimator_", "reader_"):  # their n_jobs differs
            assert_equal(getattr(loaded, name), value, name)


def test_the_same_model_gives_the_same_bytes(model, tmp_path):
    content = to_bytes(model, None)
    assert to_bytes(pickle.loads(pickle.dumps(model)), None) == content
    (tmp_path / "m.lann").write_bytes(content)
    assert to_bytes(load(tmp_path / "m.lann"), None) == content


def test_every_public_estimator_can_be_saved():
    names = public_estimators()
    assert len(names) >= 13
    others = [name for name, cls in names.items() if ESTIMATORS.find(cls()) is None]
    assert others == [name for name, cls in names.items() if is_sharded(cls())]


@pytest.mark.parametrize("case", [case for case in CASES if hasattr(case.cls, "explain")], ids=repr)
def test_explanations_are_the_same(case, tmp_path):
    model = case.fitted()
    before = round_trip(model, tmp_path)
    rows = case.X[:4] + 0.01
    expected = model.explain(rows)
    for loaded in (before, round_trip(model, tmp_path)):
        explanation = loaded.explain(rows)
        for name in ("neighbors", "contributions", "distances", "supports", "relevances", "feature_weights"):
            assert_equal(getattr(explanation, name), getattr(expected, name), name)


def test_what_was_computed_is_saved(data, tmp_path, monkeypatch):
    X, y = data
    for model in (LANNClassifier(max_iter=1, random_state=0).fit(X, y), LMNN(max_iter=2).fit(X, y)):
        assert round_trip(model, tmp_path).model_.derived == {}
        expected = model.explain(X[:5])
        loaded = round_trip(model, tmp_path)
        with monkeypatch.context() as context:
            # Nothing is computed again.
            context.setattr("lann.explain._landmarks.compute_landmarks", None)
            context.setattr("lann.explain._spacing.compute_spacing", None)
            assert_equal(loaded.explain(X[:5] * 3).is_far, model.explain(X[:5] * 3).is_far)
            assert_equal(loaded.explain(X[:5]).supports, expected.supports)
        assert_equal(loaded.model_.derived, model.model_.derived)


@pytest.mark.parametrize(
    "y",
    [
        [3, 5] * 20,
        np.array([3, 5] * 20, np.int16),
        np.array([3, 5] * 20, np.uint8),
        [0.0, 1.0] * 20,
        np.array([0.0, 1.0] * 20, np.float32),
        [True, False] * 20,
        ["x", "yy"] * 20,
        ["", "ä"] * 20,
        np.array(["x", "größer"] * 20, object),
    ],
    ids=repr,
)
def test_labels_of_every_kind(y, tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 3))
    for model in (LANNClassifier(max_iter=0).fit(X, y), GMLVQ(max_iter=1).fit(X, y)):
        loaded = round_trip(model, tmp_path)
        assert_equal(loaded.classes_, model.classes_)
        assert_equal(loaded.predict(X), model.predict(X))
        assert {type(label) for label in loaded.predict(X).tolist()} == {
            type(x) for x in model.classes_.tolist()
        }


def test_names_of_features_come_back(classifier, data, saved):
    loaded = load(saved)
    assert loaded.feature_names_in_.tolist() == ["a", "b", "weight [kg]", "größe"]
    assert loaded.feature_names_in_.dtype == object
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(data[0].rename(columns={"a": "x"}))


def test_what_belongs_together_is_one_object(saved):
    loaded = load(saved)
    assert loaded.curves_ is loaded.model_.levels.curves
    assert loaded.model_.X is loaded.model_.levels.X
    assert loaded.n_neighbors_ == loaded.model_.n_neighbors


@pytest.mark.parametrize(
    "parameters", [{}, {"metric": "full"}, {"levels": ("curves",)}, {"max_iter": 0}], ids=repr
)
def test_a_loaded_classifier_goes_on_with_partial_fit(parameters, data, tmp_path):
    X, y = data
    model = LANNClassifier(**({"max_iter": 1, "random_state": 0} | parameters))
    model.partial_fit(X[:40], y[:40], classes=["down", "level", "up"])
    loaded = round_trip(model, tmp_path)
    assert loaded.classes_.tolist() == ["down", "level", "up"]
    for one in (model, loaded):
        one.partial_fit(X[40:], y[40:])
    assert loaded.model_.X.shape == (60, 4)
    assert_equal(loaded.predict_proba(X), model.predict_proba(X))


def test_sample_weights_are_saved(data, tmp_path):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.1, 0.9, len(X))
    model = LANNClassifier(max_iter=1, random_state=0).fit(X, y, sample_weight=weights)
    loaded = round_trip(model, tmp_path)
    np.testing.assert_allclose(loaded.model_.row_weights, weights / weights.mean())
    assert_equal(loaded.predict_proba(X), model.predict_proba(X))
    # The unit of the weights is that of the first call.
    for one in (model, loaded):
        one.partial_fit(X[:5], y[:5], sample_weight=weights[:5])
    assert_equal(loaded.model_.row_weights, model.model_.row_weights)


def test_curves_that_jump_are_saved(tmp_path):
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = LANNClassifier(max_iter=2, random_state=0).fit(X, X[:, 0] > 0.3)
    assert model.curves_.jumps.max() > (0.05 if WITH_EARLIER_VERSIONS else 0.1)
    rows = np.array([[-1e-9, 0.0], [0.0, 0.0], [1e-9, 0.0]])
    rows[:, 0] += model.curves_.thresholds[0, 0]
    loaded = round_trip(model, tmp_path)
    assert_equal(loaded.curves_, model.curves_)
    assert_equal(loaded.predict_proba(rows), model.predict_proba(rows))


@pytest.mark.parametrize(
    "state", [None, 7, np.int64(7), np.random.RandomState(0)], ids=["none", "int", "integer", "generator"]
)
def test_a_seed_is_saved_and_a_generator_is_not(state, data, tmp_path):
    model = LANNClassifier(max_iter=0, random_state=state).fit(*data)
    loaded = round_trip(model, tmp_path)
    assert loaded.random_state == (None if isinstance(state, np.random.RandomState) else state)
    assert not isinstance(loaded.random_state, np.integer)


def test_nothing_about_processes_and_output_is_saved(data, tmp_path):
    for cls in (LANNClassifier, LMNN):
        loaded = round_trip(cls(max_iter=1, n_jobs=2, verbose=1).fit(*data), tmp_path)
        assert (loaded.n_jobs, loaded.verbose) == (None, 0)
    assert b"n_jobs" not in (tmp_path / "model.lann").read_bytes()


def test_callbacks_are_not_part_of_a_model(data, tmp_path):
    callback = pytest.importorskip("sklearn.callback")
    X, y = data
    model = LANNClassifier(max_iter=1, random_state=0).set_callbacks(callback.ProgressBar()).fit(X, y)
    assert_equal(round_trip(model, tmp_path).predict(X), model.predict(X))
    embedding = LANNEmbedding(FrozenEstimator(model), method="tsne", max_iter=250, random_state=0).fit(X, y)
    assert_equal(round_trip(embedding, tmp_path).transform(X), embedding.transform(X))


# Embeddings


def test_a_frozen_classifier_is_saved_once(data, classifier, tmp_path):
    X, _ = data
    frozen = FrozenEstimator(classifier)
    embedding = LANNEmbedding(frozen, method="tsne", max_iter=250, random_state=0).fit(X)
    loaded = round_trip(embedding, tmp_path)
    assert isinstance(loaded.classifier, FrozenEstimator)
    assert loaded.classifier.estimator.model_ is loaded.classifier_.model_ is loaded.model_
    assert_equal(loaded.transform(X), embedding.transform(X))
    assert_equal(loaded.fit(X).embedding_, embedding.embedding_)
    with zipfile.ZipFile(tmp_path / "model.lann") as archive:
        assert sum(name.endswith("levels/X.npy") for name in archive.namelist()) == 1


def test_a_frozen_classifier_that_was_fitted_again_raises(data, save_fails):
    X, y = data
    clf = LANNClassifier(max_iter=0).fit(X, y)
    embedding = LANNEmbedding(FrozenEstimator(clf), method="tsne", max_iter=250).fit(X)
    clf.fit(X, y)
    save_fails(embedding, "frozen classifier has been fitted again")


def test_coordinates_need_no_umap(data, tmp_path, in_new_process):
    X, y = data
    embedding = LANNEmbedding(LANNClassifier(max_iter=1), max_iter=20, random_state=0).fit(X.to_numpy(), y)
    save(embedding, tmp_path / "embedding.lann")
    coordinates = in_new_process(f"""
        import json, sys
        from lann import load

        sys.modules["umap"] = None
        embedding = load({str(tmp_path / "embedding.lann")!r})
        print(json.dumps(embedding.transform([{X.to_numpy()[0].tolist()}]).tolist()))
    """)
    assert coordinates == embedding.transform(X.to_numpy()[:1]).tolist()


# The file


def test_other_programs_can_read_a_file(classifier, saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "model.json"
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        X = np.load(io.BytesIO(archive.read("model/model_/levels/X.npy")), allow_pickle=False)
    np.testing.assert_array_equal(X, classifier.model_.X)


def test_a_file_is_hardly_larger_than_its_arrays(tmp_path):
    X = np.random.default_rng(0).normal(size=(5000, 20))
    save(LANNClassifier(max_iter=0).fit(X, X[:, 0] > 0), tmp_path / "m.lann")
    assert (tmp_path / "m.lann").stat().st_size < 2.1 * X.nbytes


def test_import_lann_imports_no_declarations(in_new_process):
    assert (
        in_new_process("""
        import json, sys, lann
        print(json.dumps([name for name in sys.modules if name.startswith("lann.persist")]))
    """)
        == []
    )


# Tables


@pytest.fixture
def table(data):
    columns = [
        {"name": "a", "kind": "number", "missing": ["", "NA"], "range": [0, 1.5], "used": True, "note": None}
    ]
    scores = CrossValidatedMethod("LANN", 5, 0, 0.9, 0.1, 0.8, 0.1, None, None, 0.3, 0.05)
    return TableRecord(
        "group", "name", None, np.arange(60) * 2, {"date": "constant"}, columns, "0f" * 32, [scores, scores]
    )


def test_the_record_of_a_table_comes_back(classifier, table, tmp_path):
    save(classifier, tmp_path / "m.lann", table=table)
    model, loaded = load_with_table(tmp_path / "m.lann")
    assert_equal(loaded, table)
    assert_equal(model.predict_proba(classifier.model_.X), classifier.predict_proba(classifier.model_.X))
    assert type(load(tmp_path / "m.lann")) is LANNClassifier


def test_a_model_may_have_no_record(saved):
    assert load_with_table(saved)[1] is None


@pytest.mark.parametrize(
    "change",
    [
        {"row_numbers": np.arange(59)},
        {"row_numbers": np.arange(60) - 1},
        {"row_numbers": np.arange(60.0)},
        {"target": None},
        {"id_column": 3},
        {"ignored": {"a": 1}},
        {"columns": [{"a": (1,)}]},
        {"columns": [{"a": np.nan}]},
        {"columns": [{1: 2}]},
        {"columns": {"a": 1}},
        {"data_sha256": "0f"},
        {"data_sha256": 3},
        {"cross_validation": [CrossValidatedMethod("LANN", 0, 0, *[0.5] * 8)]},
        {"cross_validation": [CrossValidatedMethod("LANN", 5, 0, *[np.nan] * 8)]},
        {"cross_validation": ["LANN"]},
    ],
    ids=repr,
)
def test_an_invalid_record_raises(classifier, table, change, tmp_path):
    invalid = TableRecord(**(vars(table) | change))
    with pytest.raises(ValueError, match=r"cannot be saved: (in )?it(s table| has a value).*\.$"):
        save(classifier, tmp_path / "m.lann", table=invalid)


@pytest.mark.parametrize("weight", [1e-100, 1e17, 1e100])
def test_rows_of_extreme_weights(iris, tmp_path, weight):
    """Numbers of votes can be larger than the integers of a file."""
    X, y = iris
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X, y, sample_weight=np.full(150, weight))
    loaded = round_trip(clf, tmp_path)
    assert loaded.n_neighbors_ == clf.n_neighbors_ == loaded.model_.n_neighbors
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("size", [1e-50, 1e59])
@pytest.mark.parametrize("levels", [("point",), ("curves", "point")])
def test_rows_of_extreme_sizes_with_gaps(iris, tmp_path, size, levels):
    """Without curves, coordinates have the unit of the feature."""
    X, y = iris[0] * size / 10, iris[1]
    X[::7, 1] = np.nan
    clf = LANNClassifier(levels=levels, max_iter=1, random_state=0).fit(X, y)
    loaded = round_trip(clf, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))


@pytest.mark.parametrize("seed", range(3))
def test_gaps_in_rows_of_very_different_weights(tmp_path, seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, 120)
    X = rng.normal(size=(120, 4)) + y[:, None]
    X[:, 1:][rng.random((120, 3)) < 0.9] = np.nan
    X[:, 0][rng.random(120) < 0.5] = np.nan
    X[np.isnan(X).all(axis=1), 0] = 0.5
    weights = 10.0 ** rng.uniform(-90, 90, 120)
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X, y, sample_weight=weights)
    loaded = round_trip(clf, tmp_path)
    np.testing.assert_array_equal(loaded.predict_proba(X), clf.predict_proba(X))
    assert np.isfinite(clf.predict_proba(X)).all()

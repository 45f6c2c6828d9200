"""What is loaded is what was saved: results to the bit, parameters and fitted attributes."""

import inspect
import io
import pickle
import zipfile

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator

from lann import LANNClassifier, LANNEmbedding, load, save
from lann.baselines import GMLVQ, LGMLVQ, LMNN, PLML, MultiMetricLMNN, PublishedLANN
from lann.persist import CrossValidatedMethod, TableRecord, read_model_file
from tests.common.estimators import CASES, Case

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

# Configurations whose files differ from those of the common checks.
MORE_CASES = [
    Case(LANNClassifier, {"n_candidates": np.int64(20), "class_weight": {0: 2.0, 2: np.float64(0.5)}}),
    Case(LANNClassifier, {"levels": ["curves", "point"]}),
    Case(PublishedLANN, {"metric": "low_rank", "n_components": 2, "temperature": "auto"}),
    Case(LMNN, {"init": np.eye(4)[::-1], "weights": "distance"}),
    Case(MultiMetricLMNN, {"groups": np.repeat(["a", "b", "c"], 50)}),
    Case(PLML, {"n_components": 0.9, "n_anchors": 4}),
    Case(LGMLVQ, {"metric_per": "class", "prototypes_per_class": 2}),
    Case(LANNEmbedding, {"classifier": LMNN(max_iter=3), "method": "tsne", "max_iter": 250}),
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
    elif type(one).__module__.startswith(("lann", "types")):
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
IN_ONE_FILE = [case for case in CASES if case.cls.__module__ != "lann.distributed._classifier"]


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
    path, again = tmp_path / "m.lann", tmp_path / "again.lann"
    save(model, path)
    save(load(path), again)
    assert again.read_bytes() == path.read_bytes()
    save(pickle.loads(pickle.dumps(model)), again)
    assert again.read_bytes() == path.read_bytes()


@pytest.mark.parametrize("case", [case for case in CASES if case.cls in (LANNClassifier, LMNN)], ids=repr)
def test_explanations_are_the_same(case, tmp_path):
    model = case.fitted()
    before = round_trip(model, tmp_path)
    rows = case.X[:4] + 0.01
    expected = model.explain(rows)
    for loaded in (before, round_trip(model, tmp_path)):
        explanation = loaded.explain(rows)
        for name in ("neighbors", "distances", "supports", "support_errors", "relevances"):
            assert_equal(getattr(explanation, name), getattr(expected, name), name)


def test_what_was_computed_is_saved(data, tmp_path, monkeypatch):
    X, y = data
    for model in (LANNClassifier(max_iter=1, random_state=0).fit(X, y), LMNN(max_iter=2).fit(X, y)):
        assert round_trip(model, tmp_path).model_.derived == {}
        expected = model.explain(X[:5])
        loaded = round_trip(model, tmp_path)
        with monkeypatch.context() as context:
            # Nothing is computed again.
            context.setattr("lann.explain._readings.compute_landmarks", None)
            context.setattr("lann.explain._landmarks.Spacing", None)
            assert_equal(loaded.explain(X[:5] * 3).is_far, model.explain(X[:5] * 3).is_far)
            assert_equal(loaded.explain(X[:5]).supports, expected.supports)
        assert_equal(loaded.model_.derived, model.model_.derived)


@pytest.mark.parametrize(
    "y",
    [
        np.array([3, 5] * 20, np.int16),
        [0.0, 1.0] * 20,
        [True, False] * 20,
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


@pytest.mark.parametrize("parameters", [{}, {"metric": "full"}, {"max_iter": 0}], ids=repr)
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


# The file


def test_other_programs_can_read_a_file(classifier, saved):
    with zipfile.ZipFile(saved) as archive:
        assert archive.testzip() is None
        assert archive.namelist()[0] == "model.json"
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
        X = np.load(io.BytesIO(archive.read("model/model_/levels/X.npy")), allow_pickle=False)
    np.testing.assert_array_equal(X, classifier.model_.X)


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
    file = read_model_file(tmp_path / "m.lann")
    model, loaded = file.model, file.table
    assert_equal(loaded, table)
    assert_equal(model.predict_proba(classifier.model_.X), classifier.predict_proba(classifier.model_.X))
    assert type(load(tmp_path / "m.lann")) is LANNClassifier


@pytest.mark.parametrize(
    "change",
    [
        {"row_numbers": np.arange(59)},
        {"row_numbers": np.arange(60) - 1},
        {"id_column": 3},
        {"ignored": {"a": 1}},
        {"columns": [{"a": np.nan}]},
        {"data_sha256": "0f"},
        {"cross_validation": ["LANN"]},
    ],
    ids=repr,
)
def test_an_invalid_record_raises(classifier, table, change, tmp_path):
    invalid = TableRecord(**(vars(table) | change))
    with pytest.raises(ValueError, match=r"cannot be saved: (in )?it(s table| has a value).*\.$"):
        save(classifier, tmp_path / "m.lann", table=invalid)

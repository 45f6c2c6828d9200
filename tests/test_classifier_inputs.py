"""Invalid input raises one clear sentence and changes nothing; unusual but valid input works."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier


def quick(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 3} | options))


WRONG_PARAMETERS = [
    ("n_neighbors", [0, -1, 2.5, "five", None, True, np.nan]),
    ("metric", ["euclidean", None, 3]),
    ("levels", ["point", ("points",), ("curves", 3), None, 5, [["point"]]]),
    ("power", [-1.0, "steep", None, np.nan, np.inf]),
    ("n_candidates", [0, -5, 2.5, "all"]),
    ("n_components", [0, -1, 2.5, "all"]),
    ("class_weight", ["even", 3.0, {0: 0.0}, {0: "much"}, {0: float("nan")}]),
    ("max_iter", [-1, 1.5, "many"]),
    ("learning_rate", [0, -0.1, "fast", np.nan, np.inf]),
    ("alpha", [-1, None, "much", np.nan, np.inf]),
    ("early_stopping", ["yes", None, 2.5]),
    ("warm_start", ["yes", None]),
    ("verbose", ["loud", -1, None]),
    ("n_jobs", ["two", 1.5]),
    ("random_state", ["x", -1, 1.5]),
    ("max_points", [0, 1, -5, 2.5, "many", np.nan]),
    ("forget_policy", ["oldest", None, 1, ["recent"]]),
    ("categorical_features", ["all", [True], [4], [-1], ["sepal length"], [[True] * 4], [0.5]]),
]


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in WRONG_PARAMETERS for value in values]
)
def test_invalid_parameters_raise_one_sentence(iris, name, value):
    clf = quick().set_params(**{name: value})
    words = "[Ss]eed" if name == "random_state" else rf"{name} must be .*; got "
    with pytest.raises(ValueError, match=words):
        clf.fit(*iris)
    with pytest.raises(NotFittedError):
        clf.predict(iris[0])


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros(10), np.zeros(10), "Expected 2D array, got 1D array"),
        (np.zeros((2, 2, 2)), np.zeros(2), "Found array with dim 3"),
        (np.zeros((10, 2)), np.zeros(9), "inconsistent numbers of samples"),
        (np.zeros((10, 2)), np.zeros((10, 2)), "y should be a 1d array"),
        (np.zeros((0, 2)), np.zeros(0), "0 sample"),
        (np.zeros((10, 0)), np.zeros(10), "0 feature"),
        (np.full((10, 2), np.nan), np.arange(10) % 2, "X has no value in any row: all of them are missing."),
        (np.full((10, 2), np.inf), np.arange(10) % 2, "infinity"),
        (np.zeros((10, 2)), np.ones(10), r"y has one class only, .*1.*; a classifier needs"),
        (np.zeros((10, 2)), np.linspace(0, 1, 10), "Unknown label type"),
        (np.zeros((10, 2)), np.full(10, np.nan), "NaN"),
        (np.array([["a", "b"]] * 10), np.arange(10) % 2, "could not convert string to float"),
        (np.zeros((10, 2), complex), np.arange(10) % 2, "Complex data not supported"),
    ],
)  # fmt: skip
def test_invalid_training_data_raises(X, y, message):
    clf = quick()
    with pytest.raises(ValueError, match=message):
        clf.fit(X, y)
    with pytest.raises(NotFittedError):
        clf.predict(np.zeros((3, 2)))


@pytest.mark.parametrize("layout", [sparse.csr_matrix, sparse.coo_array])
def test_sparse_data(iris, layout):
    with pytest.raises(TypeError, match=r"X is sparse.*make_pipeline\(TruncatedSVD"):
        quick().fit(layout(iris[0]), iris[1])
    with pytest.raises(TypeError, match=r"X is sparse.*make_pipeline\(TruncatedSVD"):
        quick().fit(*iris).predict(layout(iris[0]))


@pytest.mark.parametrize("method", ["predict", "predict_proba", "kneighbors", "explain"])
@pytest.mark.parametrize(
    ("queries", "message"),
    [
        (np.zeros((3, 5)), "X has 5 features, but LANNClassifier is expecting 4 features"),
        (np.zeros(4), "Expected 2D array"),
        (np.full((2, 4), np.nan), "Row 0 of X has no value to measure: all of them are missing."),
        (np.full((2, 4), -np.inf), "infinity"),
        (np.zeros((0, 4)), "0 sample"),
    ],
)
def test_invalid_queries_raise(iris, method, queries, message):
    clf = quick(max_iter=0).fit(*iris)
    with pytest.raises(ValueError, match=message):
        getattr(clf, method)(queries)


@pytest.mark.parametrize("kind", ["fit", "predict"])
def test_lazy_tables(iris, kind):
    pl = pytest.importorskip("polars")
    table = pl.DataFrame(iris[0], schema=list("abcd"))
    clf = quick(max_iter=0).fit(table, iris[1])
    with pytest.raises(TypeError, match=r"X is a lazy table, .* give X.collect\(\)"):
        clf.fit(table.lazy(), iris[1]) if kind == "fit" else clf.predict(table.lazy())


def test_arrays_with_text_have_categories(iris):
    """ColumnTransformer returns an array of objects where one of the columns is text."""
    X, y = iris
    frame = pd.DataFrame(X, columns=list("abcd")).assign(kind=np.where(X[:, 2] > 3, "large", "small"))
    scaled = ColumnTransformer([("scale", StandardScaler(), list("abcd"))], remainder="passthrough")
    array = scaled.fit_transform(frame)
    assert array.dtype == object
    clf = quick().fit(array, y)
    assert [feature.kind for feature in clf.schema_.features] == ["number"] * 4 + ["category"]
    as_frame = quick().fit(pd.DataFrame(array).infer_objects(), y)
    np.testing.assert_array_equal(clf.predict_proba(array), as_frame.predict_proba(pd.DataFrame(array)))
    assert make_pipeline(scaled, quick()).fit(frame, y).score(frame, y) > 0.9
    numbers = quick().fit(X.astype(str).astype(object), y)  # text of numbers only
    np.testing.assert_array_equal(numbers.predict_proba(X), quick().fit(X, y).predict_proba(X))
    with pytest.raises(ValueError, match="has numbers in the training data; got 'small'"):
        numbers.predict(array[:, 1:])


def test_many_numbers_as_labels_are_warned_of():
    X = np.random.default_rng(0).normal(size=(1000, 2))
    amounts = (X[:, 0] * 50).round().astype(int)
    with pytest.warns(UserWarning, match="more than 100 different numbers, and each is a class of its own"):
        clf = quick(max_iter=0).fit(X, amounts)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf.partial_fit(X[:5], amounts[:5])
        quick(max_iter=0).fit(X, amounts // 4)
        quick(max_iter=0).fit(X, amounts.astype(str))


def test_true_labels_are_beside_the_predictions(iris):
    X, y = iris
    clf = quick(max_iter=0).fit(X[::2], y[::2])
    explanation = clf.explain(X[1::2], y[1::2])
    np.testing.assert_array_equal(explanation.true_labels, y[1::2])
    assert explanation.row(3).true_label == y[7]
    assert clf.explain(X[1::2]).true_labels is None
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        clf.explain(X[1::2], y)


def test_names_that_differ(iris):
    X = pd.DataFrame(iris[0], columns=list("abcd"))
    clf = quick().fit(X, iris[1])
    np.testing.assert_array_equal(clf.feature_names_in_, list("abcd"))
    with pytest.raises(ValueError, match="feature names should match"):
        clf.predict(X.rename(columns={"a": "z"}))
    with pytest.raises(ValueError, match=r"feature names should match|must be in the same order"):
        clf.predict(X[list("dcba")])
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        clf.predict(iris[0])


# Unusual but valid

MODELS = {
    "default": {},
    "stopping": {"early_stopping": True},
    "auto": {"n_neighbors": "auto", "power": "auto"},
    "uniform": {"power": 0.0, "levels": ("point",)},
}  # fmt: skip

RNG = np.random.default_rng(0)
BASE = np.concatenate([RNG.normal(size=(20, 3)), RNG.normal(size=(20, 3)) + 2])
TWO = np.repeat([0, 1], 20)
UNUSUAL_DATA = {
    "constant column": (np.column_stack([BASE, np.full(40, 0.1)]), TWO),
    "all columns constant": (np.full((40, 3), 0.1), TWO),
    "all rows identical": (np.tile(BASE[0], (40, 1)), TWO),
    "duplicates with other labels": (np.concatenate([BASE, BASE]), np.concatenate([TWO, 1 - TWO])),
    "two rows per class": (BASE[[0, 1, 20, 21, 5]] + np.arange(5)[:, None], np.array([0, 0, 1, 1, 0])),
    "one feature": (BASE[:, :1], TWO),
    "more classes than neighbors": (BASE, np.arange(40) % 10),
    "every row a class": (BASE, np.arange(40)),
    "a class of one row": (BASE, np.array([7] + [0] * 19 + [1] * 20)),
    "integers": (np.round(BASE * 2).astype(int), TWO),
    "booleans": (BASE > 0, TWO),
    "float32": (BASE.astype(np.float32), TWO),
    "huge": (BASE * 1e25, TWO),
    "tiny": (BASE * 1e-25, TWO),
    "different scales": (BASE * [1e-12, 1.0, 1e12], TWO),
    "far from 0": (BASE + 1e8, TWO),
    "an outlier": (np.concatenate([BASE, [[1e15, 0, 0]]]), np.append(TWO, 1)),
    "more features than rows": (RNG.normal(size=(10, 50)), np.arange(10) % 2),
    "a list": (BASE.tolist(), TWO.tolist()),
    "Fortran order": (np.asfortranarray(BASE), TWO),
    "strided": (np.repeat(np.repeat(BASE, 2, axis=0), 2, axis=1)[::2, ::2], TWO),
}


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("data", UNUSUAL_DATA)
@pytest.mark.parametrize("model", MODELS)
def test_unusual_data(data, model):
    X, y = UNUSUAL_DATA[data]
    clf = quick(**MODELS[model]).fit(X, y)
    assert clf.feature_weights_.shape == np.shape(X)
    assert np.all(np.isfinite(clf.feature_weights_))
    assert np.all(clf.feature_weights_ >= 0)
    probabilities = clf.predict_proba(X)
    assert np.all(np.isfinite(probabilities))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    explanation = clf.explain(X)
    assert explanation.neighbors.min() >= 0
    assert np.all(np.isfinite(explanation.distances))


@pytest.mark.parametrize("value", [0.1, 1 / 3, 7.0, 1e6 + 0.1])
def test_a_constant_column_does_not_dominate(iris, value):
    X, y = iris
    X = np.column_stack([X, np.full(150, value)])
    clf = quick().fit(X[::2], y[::2])
    queries = X[1::2].copy()
    queries[:, -1] += 1e-3 * value  # slightly different from the constant
    assert clf.score(queries, y[1::2]) > 0.9


@pytest.mark.parametrize("far", [1e6, 1e12, 1e25, 1e60])
@pytest.mark.parametrize(
    "options", [{}, {"n_candidates": None}, {"levels": ("point",), "n_candidates": None}]
)
def test_a_distant_query_has_valid_neighbors(iris, far, options):
    clf = quick(**options).fit(*iris)
    explanation = clf.explain(np.full((1, 4), far))
    assert explanation.neighbors.min() >= 0
    assert np.all(np.isfinite(explanation.distances))
    assert len(set(explanation.neighbors[0])) == clf.n_neighbors_


@pytest.mark.parametrize(
    "labels",
    [["b", "a", "c"], [3, -1, 100], [2.0, 0.0, 1.0], [True, False, True]],
    ids=["str", "int", "float", "bool"],
)
def test_labels_of_any_kind(iris, labels):
    X, y = iris
    y = np.array(labels)[y]
    clf = quick().fit(X, y)
    assert clf.predict(X).dtype == y.dtype
    assert clf.score(X, y) > 0.9


# Arrays that need no conversion are not checked by scikit-learn, and everything else is.

"""Numbers of extreme size: results are right, or an error of one sentence on which all methods agree."""

import warnings
from fractions import Fraction

import numpy as np
import pytest

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.explain import counterfactuals, query_relevances
from lann.reject import RejectOption
from lann.streams import SAMKNN, SAMLANN

TOO_LARGE = "The values of feature 'x1' are too large to be squared; scale them down to at most 1e\\+60"
TOO_CLOSE = "The values of feature 'x1' differ by less than 1e-60, which is too little to be squared"


@pytest.fixture(scope="module")
def data(iris):
    X, y = iris
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def quick(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 2} | options))


def with_cell(X, value, row=0):
    X = X.copy()
    X[row, 1] = value
    return X


ESTIMATORS = {
    "LANNClassifier": quick(),
    "LMNN": LMNN(max_iter=2),
    "GMLVQ": GMLVQ(max_iter=2),
    "SAMLANN": SAMLANN(),
    "RejectOption": RejectOption(quick(), cv=0.5, random_state=0),
    "LANNEmbedding": LANNEmbedding(quick(), method="tsne", max_iter=250, random_state=0),
    "DiscriminantPlane": DiscriminantPlane(),
}


def methods_of(estimator):
    """Return functions of queries: whatever of an estimator takes queries."""
    names = ["predict_proba", "kneighbors", "explain", "transform", "decision"]
    methods = [getattr(estimator, name) for name in names if hasattr(estimator, name)]
    if isinstance(estimator, LANNClassifier | LMNN):
        methods += [lambda X: counterfactuals(estimator, X), lambda X: query_relevances(estimator, X)]
    return methods


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", ESTIMATORS)
def test_all_methods_agree_on_values_that_are_too_large(name, data):
    X, y = data[0][:90], data[1][:90]
    estimator = ESTIMATORS[name]
    with pytest.raises(ValueError, match=TOO_LARGE):
        estimator.fit(with_cell(X, 1e61), y)
    estimator.fit(X, y)
    for method in methods_of(estimator):
        with pytest.raises(ValueError, match=TOO_LARGE):
            method(with_cell(X[:3], -1e154))
        assert method(with_cell(X[:3], 9e59)) is not None


def test_a_failed_update_changes_nothing(data):
    X, y = data
    clf = quick().fit(X, y)
    before = clf.predict_proba(X)
    with pytest.raises(ValueError, match=TOO_LARGE):
        clf.partial_fit(with_cell(X, 1e61), y)
    np.testing.assert_array_equal(clf.predict_proba(X), before)


def test_values_that_differ_by_too_little_raise(data):
    X, y = data[0].copy(), data[1]
    X[:, 1] = np.round(X[:, 1]) % 2 * 1e-70
    for fit in (quick().fit, quick(max_iter=0).fit, quick().partial_fit, LMNN().fit, GMLVQ().fit):
        with pytest.raises(ValueError, match=TOO_CLOSE):
            fit(X, y)
    # The first row alone is constant; those that follow are not.
    clf = quick().partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=TOO_CLOSE):
        clf.partial_fit(X, y)


def exactly(X, queries, k):
    """Return the nearest rows in rational arithmetic, ties by index: slow and obvious."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    nearest = []
    for query in queries.tolist():
        distances = [sum((a - Fraction(b)) ** 2 for a, b in zip(row, query, strict=True)) for row in rows]
        nearest.append(sorted(range(len(rows)), key=lambda j, d=distances: (d[j], j))[:k])
    return np.array(nearest)


@pytest.mark.parametrize("exponent", [-199, 0, 190])
@pytest.mark.parametrize("n_candidates", [None, 50])
def test_neighbors_are_those_of_rational_arithmetic(exponent, n_candidates):
    rng = np.random.default_rng(abs(exponent))
    X = rng.normal(size=(40, 3)) * 2.0**exponent
    queries = rng.normal(size=(20, 3)) * 2.0**exponent
    clf = LANNClassifier(5, max_iter=0, n_candidates=n_candidates).fit(X, np.arange(40) % 2)
    lengths, neighbors = clf.kneighbors(queries)
    expected = exactly(X, queries, 5)
    np.testing.assert_array_equal(neighbors, expected)
    steps = (queries[:, None] - X[expected]) * 2.0**-exponent
    np.testing.assert_allclose(lengths * 2.0**-exponent, np.sqrt((steps**2).sum(axis=2)), rtol=1e-12)


@pytest.mark.parametrize("exponent", [-195, 190])
@pytest.mark.parametrize("options", [{}, {"metric": "full"}])
def test_a_power_of_two_as_unit_changes_no_prediction(data, exponent, options):
    X, y = data
    scale, queries = 2.0**exponent, X[90:]
    plain, scaled = quick(**options).fit(X[:90], y[:90]), quick(**options).fit(X[:90] * scale, y[:90])
    np.testing.assert_array_equal(scaled.predict(queries * scale), plain.predict(queries))
    expected = plain.predict_proba(queries)
    np.testing.assert_allclose(scaled.predict_proba(queries * scale), expected, atol=1e-6)


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
@pytest.mark.parametrize("exponent", [-195, 190])
def test_a_power_of_two_as_unit_changes_no_bit_of_a_stream(data, exponent, cls):
    X, y = data
    X = np.concatenate([X, -X]) * [1.0, 3.0, 0.1, 1.0]
    X[:30, 3] = X[0, 3]  # constant at first
    y = np.concatenate([y, y])
    plain, scaled = (
        cls(window_size=60, random_state=0).test_then_train(rows, y) for rows in (X, X * 2.0**exponent)
    )
    np.testing.assert_array_equal(scaled, plain)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [1e39, 9e59])
def test_one_outlier_among_ordinary_rows(data, value):
    X, y = data
    clf = quick().fit(with_cell(X, value), y)
    assert clf.score(X[1:], y[1:]) > 0.9
    layout = NeighborEmbedding(max_iter=20, random_state=0, n_neighbors=5).fit(with_cell(X[:40], value))
    assert np.isfinite(layout.transform(with_cell(X[50:53], value))).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_other_types_of_numbers(data, dtype):
    X, y = data[0].astype(dtype), data[1]
    clf, other = quick().fit(X, y), quick().fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(clf.predict_proba(X), other.predict_proba(X.astype(np.float64)))


def test_weights_and_strengths_of_extreme_sizes(data):
    X, y = data
    with pytest.raises(ValueError, match=r"class_weight must be between 1e-100 and 1e\+100"):
        quick(class_weight={0: 1e300}).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha must be .* at most 1e\+100"):
        quick(alpha=1e300).fit(X, y)
    with pytest.raises(ValueError, match=r"sample_weight must be 0, or between 1e-100 and 1e\+100"):
        quick().fit(X, y, sample_weight=np.full(len(X), 1e300))
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        clf = quick(class_weight={0: 1e-100, 1: 1e100})
        clf.fit(X, y, sample_weight=np.where(np.arange(len(y)) % 3, 1e-100, 1e100))
        assert np.isfinite(clf.explain(X[:5]).relevances).all()


@pytest.mark.parametrize("other", [1, None])
def test_labels_of_several_types_raise_one_sentence(data, other):
    X, y = data[0], np.where(data[1] == 0, "a", data[1].astype(object))
    y[y != "a"] = other
    message = f"y has labels of several types, such as 'a' and {other}; give text only or numbers only"
    for estimator in (quick(), LMNN(), SAMKNN(), RejectOption(quick()), LANNEmbedding(quick())):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)

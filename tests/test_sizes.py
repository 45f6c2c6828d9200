"""Numbers of extreme size: results are right, or an error of one sentence on which all methods agree."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from sklearn.datasets import load_iris

from lann import LANNClassifier
from lann._support import storage
from lann._support.sizes import (
    LARGEST_VALUE,
    SMALLEST_SPREAD,
    check_training_values,
    check_values,
    find_too_close,
    find_too_large,
    is_small,
    limits_for,
)
from lann.baselines import DANN, GMLVQ, LMNN, PLML, PublishedLANN
from lann.embedding import DiscriminantPlane, LANNEmbedding, NeighborEmbedding
from lann.explain import counterfactuals, nearest_other_class, query_relevances
from lann.reject import RejectOption
from lann.streams import SAMKNN, SAMLANN

TOO_LARGE = "The values of feature 'x1' are too large to be squared; scale them down to at most 1e\\+140"
TOO_CLOSE = "The values of feature 'x1' differ by less than 1e-140, which is too little to be squared"
TOO_FAR = "Feature 'x1' has a value that is too far from those of the training rows to be measured"
METHODS = ["predict", "predict_proba", "kneighbors", "explain", "transform", "decision", "reasons"]


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    order = np.random.default_rng(0).permutation(len(y))
    return X[order], y[order]


def quick(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 2} | options))


def with_cell(X, value, row=0):
    X = X.copy()
    X[row, 1] = value
    return X


# The rule


@pytest.mark.parametrize("n_rows", [1, 3, 3000])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_within_their_limits(n_rows, dtype):
    X = np.ones((n_rows, 4), dtype)
    assert is_small(X)
    assert find_too_large(X) is None
    assert find_too_large(-X, limits_for(np.array([1.0, 1.0, 1e200, 1.0]))) == 2
    for value in (np.inf, -np.inf):
        assert find_too_large(with_cell(X, value, -1)) == 1
    gaps = with_cell(X, np.nan)
    assert not is_small(gaps)
    assert find_too_large(gaps) is None
    if dtype is np.float64:
        assert find_too_large(with_cell(gaps, LARGEST_VALUE)) is None
        assert find_too_large(with_cell(gaps, -np.nextafter(LARGEST_VALUE, np.inf))) == 1


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(
    ("column", "too_close"),
    [
        ([0.0, 0.0], False),
        ([1e-200, 1e-200], False),
        ([0.0, 1e-200], True),
        ([5e-324, 0.0], True),
        ([np.nan, 1e-200], False),
        ([np.nan, np.nan], False),
        ([0.0, SMALLEST_SPREAD], False),
        ([1.0, 1.0 + 1e-15], False),
    ],
)
def test_values_that_differ_by_too_little(column, too_close):
    X = np.column_stack([np.ones(2), column])
    assert find_too_close(X) == (1 if too_close else None)
    assert find_too_close(X[:0]) is None


def test_names_are_asked_for_only_in_an_error():
    check_values(np.ones((1, 2)), lambda: pytest.fail("not needed"))
    with pytest.raises(ValueError, match="The values of feature 'b' are too large"):
        check_values(np.array([[1.0, 1e141]]), lambda: ["a", "b"])
    with pytest.raises(ValueError, match="The values of feature 'b' differ by less"):
        check_training_values(np.array([[1.0, 1e-141], [2.0, 0.0]]), np.array(["a", "b"]))


# Fits


BAD_CELLS = [(1e141, TOO_LARGE), (-1e154, TOO_LARGE), (1.7e308, TOO_LARGE), (np.inf, "infinity")]


@pytest.mark.parametrize(("value", "message"), BAD_CELLS)
@pytest.mark.parametrize("options", [{}, {"levels": ("point",)}, {"max_iter": 0}, {"metric": "full"}])
def test_fit_and_partial_fit_raise_for_the_same_rows(data, value, message, options):
    X, y = data
    for fit in (quick(**options).fit, quick(**options).partial_fit):
        with pytest.raises(ValueError, match=message):
            fit(with_cell(X, value), y)
    clf = quick(**options).fit(X, y)
    before = clf.predict_proba(X)
    for rows in (slice(0, 1), slice(0, 40)):
        with pytest.raises(ValueError, match=message):
            clf.partial_fit(with_cell(X, value)[rows], y[rows])
    np.testing.assert_array_equal(clf.predict_proba(X), before)


@pytest.mark.parametrize("size", [1e-141, 1e-170, 1e-300, 5e-324])
def test_values_that_differ_by_too_little_raise(data, size):
    X, y = data
    X = X.copy()
    X[:, 1] = np.round(X[:, 1]) % 2 * size
    for fit in (quick().fit, quick(max_iter=0).fit, quick().partial_fit, LMNN().fit, GMLVQ().fit):
        with pytest.raises(ValueError, match=TOO_CLOSE):
            fit(X, y)
    # The first row alone is constant; those that follow are not.
    clf = quick().partial_fit(X[:1], y[:1], classes=[0, 1, 2])
    with pytest.raises(ValueError, match=TOO_CLOSE):
        clf.partial_fit(X, y)


@pytest.mark.parametrize(
    "estimator",
    [PublishedLANN(), LMNN(), GMLVQ(), DANN(), PLML(), NeighborEmbedding(), DiscriminantPlane()],
)
def test_baselines_and_embeddings_raise(data, estimator):
    X, y = data
    with pytest.raises(ValueError, match=TOO_LARGE):
        estimator.fit(with_cell(X, 1e141), y)


def test_a_plane_needs_differences_within_a_class(data):
    X, y = data
    plane = DiscriminantPlane().fit(X, y)
    with pytest.raises(ValueError, match=TOO_LARGE):
        plane.transform(with_cell(X, 1e141))
    with pytest.raises(ValueError, match="All rows of a class are equal in every class"):
        plane.fit(np.repeat(y[:, None], 2, axis=1), y)
    with pytest.raises(ValueError, match="differ by less than 1e-140"):
        plane.fit(X * 1e-200, y)


def test_rows_too_far_away_for_points_in_float32(data, monkeypatch):
    """The rows can be kept in float32; on the axes, which are standardized, they cannot."""
    monkeypatch.setattr(storage, "MANY_ROWS", 10)
    X, y = data[0].astype(np.float32), data[1]
    clf = quick().fit(X * np.float32(1e-25), y)
    with pytest.raises(ValueError, match="too large for float32"):
        clf.partial_fit(with_cell(X, 1e36)[:1], y[:1])
    with pytest.raises(ValueError, match=r"too far from those of the training rows .* at most \de\+"):
        clf.partial_fit(with_cell(X * 1e-25, 1e30)[:1], y[:1])
    clf.partial_fit(with_cell(X * 1e-25, 1e9)[:1], y[:1])
    assert np.isfinite(clf.predict_proba(X * 1e-25)).all()


def test_feature_weights_of_rows_that_are_far_away(data):
    X, y = data
    clf = quick().fit(X, y).partial_fit(with_cell(X, 1e139)[:2], y[:2])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert np.isfinite(clf.class_feature_weights_).all()


# Queries: all methods agree


def methods_of(estimator):
    """Return functions of queries, by name: whatever of an estimator takes queries."""
    found = {name: getattr(estimator, name) for name in METHODS if hasattr(estimator, name)}
    if hasattr(estimator, "model_") and hasattr(estimator, "classes_") and "kneighbors" in found:
        found |= {
            "counterfactuals": lambda X: counterfactuals(estimator, X),
            "nearest_other_class": lambda X: nearest_other_class(estimator, X),
            "query_relevances": lambda X: query_relevances(estimator, X),
        }
    return found


ESTIMATORS = {
    "LANNClassifier": quick(),
    "without curves": quick(levels=("point",)),
    "plain": quick(max_iter=0),
    "full": quick(metric="full"),
    "LMNN": LMNN(max_iter=2),
    "GMLVQ": GMLVQ(max_iter=2),
    "PublishedLANN": PublishedLANN(max_iter=1),
    "SAMKNN": SAMKNN(),
    "SAMLANN": SAMLANN(),
    "RejectOption": RejectOption(quick(), cv=0.5, random_state=0),
    "LANNEmbedding": LANNEmbedding(quick(), method="tsne", max_iter=250, random_state=0),
    "NeighborEmbedding": NeighborEmbedding(method="tsne", max_iter=250, random_state=0),
}


@pytest.fixture(scope="module", params=ESTIMATORS)
def fitted(request, data):
    return ESTIMATORS[request.param].fit(data[0][:90], data[1][:90])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [1e141, -1e154, 1e200, 1.7e308])
def test_all_methods_raise_for_queries_that_are_too_large(fitted, data, value):
    methods = methods_of(fitted)
    assert methods
    for method in methods.values():
        with pytest.raises(ValueError, match=TOO_LARGE):
            method(with_cell(data[0][:3], value))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [1e39, -1e100, 9e139])
def test_all_results_for_queries_that_are_as_large_as_possible_are_finite(fitted, data, value):
    queries = with_cell(data[0][:3], value)
    for name, method in methods_of(fitted).items():
        result = method(queries)
        if name in ("decision", "reasons", "counterfactuals", "nearest_other_class"):
            assert result is not None
            continue
        if name == "explain":
            result = (
                result.distances, result.contributions, result.relevances, result.supports,
                result.probabilities, result.vote_shares,
            )  # fmt: skip
            assert fitted.explain(queries).neighbors.min() >= 0
        for values in result if isinstance(result, tuple) else (result,):
            assert np.isfinite(np.asarray(values, np.float64)).all() if name != "predict" else len(values)


@pytest.mark.parametrize("estimator", [quick(), DANN(), PLML(max_iter=2)])
def test_queries_beyond_the_reach_of_a_learned_metric(data, estimator):
    X, y = data
    clf = estimator.fit(X[:60] * 1e-130, y[:60])
    clf.predict(X[:3] * 1e-130)
    queries = with_cell(X[:2] * 1e-130, 1e100)
    for method in methods_of(clf).values():
        with pytest.raises(ValueError, match=TOO_FAR):
            method(queries)
    if hasattr(clf, "partial_fit"):
        with pytest.raises(ValueError, match=TOO_FAR):
            clf.partial_fit(queries, y[:2])


# Results are right


def exactly(X, queries, k):
    """Return the nearest rows in rational arithmetic, ties by index: slow and obvious."""
    rows = [[Fraction(v) for v in row] for row in X.tolist()]
    found = []
    for query in queries.tolist():
        own = [Fraction(v) for v in query]
        distances = [sum((a - b) ** 2 for a, b in zip(row, own, strict=True)) for row in rows]
        found.append(sorted(range(len(rows)), key=lambda j, d=distances: (d[j], j))[:k])
    return np.array(found)


@pytest.mark.parametrize("exponent", [-463, -340, -170, 0, 170, 340, 460])
@pytest.mark.parametrize("n_candidates", [None, 50])
def test_neighbors_are_those_of_rational_arithmetic(exponent, n_candidates):
    rng = np.random.default_rng(abs(exponent))
    X = rng.normal(size=(40, 3)) * 2.0**exponent
    queries = rng.normal(size=(20, 3)) * 2.0**exponent
    clf = LANNClassifier(5, max_iter=0, n_candidates=n_candidates).fit(X, np.arange(40) % 2)
    lengths, found = clf.kneighbors(queries)
    expected = exactly(X, queries, 5)
    np.testing.assert_array_equal(found, expected)
    steps = (queries[:, None] - X[expected]) * 2.0**-exponent
    np.testing.assert_allclose(lengths * 2.0**-exponent, np.sqrt((steps**2).sum(axis=2)), rtol=1e-12)


@pytest.mark.parametrize("exponent", [-460, 166, 455])
@pytest.mark.parametrize(
    "make",
    [
        quick,
        lambda: quick(max_iter=0),
        lambda: quick(metric="full"),
        lambda: PublishedLANN(max_iter=1, temperature="auto", metric="full", random_state=0),
    ],
)
def test_a_power_of_two_as_unit_changes_no_prediction(data, exponent, make):
    X, y = data
    scale, queries = 2.0**exponent, X[90:]
    plain, scaled = make().fit(X[:90], y[:90]), make().fit(X[:90] * scale, y[:90])
    np.testing.assert_array_equal(scaled.predict(queries * scale), plain.predict(queries))
    expected = plain.predict_proba(queries)
    np.testing.assert_allclose(scaled.predict_proba(queries * scale), expected, atol=1e-6)


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
@pytest.mark.parametrize("exponent", [-460, -40, 1, 10, 40, 455])
def test_a_power_of_two_as_unit_changes_no_bit_of_a_stream(data, exponent, cls):
    X, y = data
    X = np.concatenate([X, -X]) * [1.0, 3.0, 0.1, 1.0]
    X[:30, 3] = X[0, 3]  # constant at first
    y = np.concatenate([y, y])
    plain, scaled = (
        cls(window_size=60, random_state=0).test_then_train(rows, y) for rows in (X, X * 2.0**exponent)
    )
    np.testing.assert_array_equal(scaled, plain)


@pytest.mark.parametrize("scales", [[1e-139, 1.0, 1e139, 1.0], [1e100, 1e-100, 1.0, 1e-30]])
def test_features_of_different_scales(data, scales):
    X, y = data
    plain, scaled = quick().fit(X[:90], y[:90]), quick().fit(X[:90] * scales, y[:90])
    np.testing.assert_array_equal(scaled.predict(X[90:] * scales), plain.predict(X[90:]))


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("value", [1e39, 1e100, 9e139])
def test_one_outlier_among_ordinary_rows(data, value):
    X, y = data
    clf = quick().fit(with_cell(X, value), y)
    assert clf.score(X[1:], y[1:]) > 0.9
    layout = NeighborEmbedding(max_iter=20, random_state=0, n_neighbors=5).fit(with_cell(X[:40], value))
    assert np.isfinite(layout.embedding_).all()
    assert np.isfinite(layout.transform(with_cell(X[50:53], value))).all()


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.longdouble])
def test_other_types_of_numbers(data, dtype):
    X, y = data[0].astype(dtype), data[1]
    clf, other = quick().fit(X, y), quick().fit(X.astype(np.float64), y)
    np.testing.assert_array_equal(clf.predict_proba(X), other.predict_proba(X.astype(np.float64)))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_numbers_beyond_float64(data):
    X, y = data
    clf = quick().fit(X, y)
    for dtype, value in ((np.longdouble, np.longdouble("1e400")), (object, 10**400), (object, 10**200)):
        wide = X.astype(dtype)
        wide[0, 1] = value
        for method in (lambda X: quick().fit(X, y), clf.predict, clf.explain, clf.kneighbors):
            with pytest.raises(ValueError, match="too large"):
                method(wide)


# Labels, weights and parameters


@pytest.mark.parametrize("other", [1, None])
def test_labels_of_several_types_raise_one_sentence(data, other):
    X, y = data[0], np.where(data[1] == 0, "a", data[1].astype(object))
    y[y != "a"] = other
    message = f"y has labels of several types, such as 'a' and {other}; give text only or numbers only"
    for estimator in (quick(), LMNN(), GMLVQ(), SAMKNN(), RejectOption(quick()), LANNEmbedding(quick())):
        with pytest.raises(ValueError, match=message):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match=message):
        quick().partial_fit(X, y)
    with pytest.raises(ValueError, match=message):
        quick(max_points=20).fit(np.tile(X, (100, 1)), np.tile(y, 100))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_class_weights_of_extreme_sizes(data):
    X, y = data
    for weight in (1e-300, 1e300, 10**400, 0.0, 5e-324):
        with pytest.raises(ValueError, match=r"class_weight must be between 1e-100 and 1e\+100"):
            quick(class_weight={0: weight}).fit(X, y)
    clf = quick(class_weight={0: 1e-100, 1: 1e100}).fit(X, y)
    assert np.isfinite(clf.predict_proba(X)).all()
    assert np.isfinite(clf.explain(X[:5]).relevances).all()


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("sizes", [(1e-100, 1e100), (1e-100, 1.0), (1.0, 1e100)])
def test_sample_weights_of_extreme_sizes(data, sizes):
    X, y = data
    clf = quick().fit(X, y, sample_weight=np.where(np.arange(len(y)) % 3, *sizes))
    assert np.isfinite(clf.predict_proba(X)).all()
    explanation = clf.explain(X[:5])
    assert np.isfinite(explanation.relevances).all()
    np.testing.assert_allclose(explanation.probabilities.sum(axis=1), 1.0)


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("name", ["alpha", "learning_rate"])
def test_strengths_of_extreme_sizes(data, name):
    X, y = data
    with pytest.raises(ValueError, match=rf"{name} must be .* at most 1e\+100"):
        quick(**{name: 1e300}).fit(X, y)
    for value in (1e-300, 1e100):
        clf = quick(**{name: value}).fit(X, y)
        assert np.isfinite(clf.predict_proba(X)).all()
        assert np.isfinite(clf.explain(X[:5]).relevances).all()

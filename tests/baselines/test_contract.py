"""What every baseline promises: scikit-learn's checks, one clear sentence, the same bits, relevances."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from threadpoolctl import threadpool_limits

from lann import baselines

# What keeps a test short; the results need not be good.
QUICK = {"max_iter": 20, "tol": 1e-3}
RANDOM = ("GRLVQ", "GMLVQ", "LGRLVQ", "LGMLVQ")


def quick(name, **options):
    """An estimator that is fitted in a moment."""
    estimator = getattr(baselines, name)()
    wanted = {"random_state": 0} | QUICK | options
    known = estimator.get_params()
    return estimator.set_params(**{key: value for key, value in wanted.items() if key in known})


@pytest.fixture(scope="module")
def flowers():
    X, y = load_iris(return_X_y=True)
    return StandardScaler().fit_transform(X), y


every = pytest.mark.parametrize("name", baselines.__all__)
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@parametrize_with_checks([getattr(baselines, name)() for name in baselines.__all__])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


@every
def test_learns_and_scores(name, flowers):
    X, y = flowers
    estimator = getattr(baselines, name)().fit(X[::2], y[::2])
    assert estimator.score(X[1::2], y[1::2]) > 0.88
    shares = estimator.predict_proba(X[1::2])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert np.array_equal(estimator.classes_[shares.argmax(axis=1)], estimator.predict(X[1::2]))


@every
def test_same_bits_at_any_number_of_threads(name, flowers):
    X, y = flowers
    found = []
    for n_jobs in (1, 2):
        with threadpool_limits(n_jobs, user_api="blas"):
            estimator = quick(name, n_jobs=n_jobs).fit(X, y)
            found.append((estimator.feature_weights_, estimator.predict_proba(X)))
    for one, other in zip(*found, strict=True):
        assert np.array_equal(one, other)


@every
def test_relevances_have_the_names_and_shapes_of_lann(name, flowers):
    X, y = flowers
    estimator = quick(name).fit(X, y)
    assert estimator.feature_weights_.shape[1] == X.shape[1]
    assert estimator.class_feature_weights_.shape == (3, X.shape[1])
    assert estimator.mean_feature_weights_.shape == (X.shape[1],)
    for relevances in (
        estimator.feature_weights_,
        estimator.class_feature_weights_,
        estimator.mean_feature_weights_,
    ):
        assert np.isfinite(relevances).all()
        assert (relevances >= 0).all()
        assert relevances.max() > 0


@every
def test_explanations_add_up(name, flowers):
    X, y = flowers
    estimator = quick(name).fit(pd.DataFrame(X, columns=list("abcd")), y)
    queries = pd.DataFrame(X[::10], columns=list("abcd"))
    explanation = estimator.explain(queries)
    assert np.array_equal(explanation.predictions, estimator.predict(queries))
    assert np.array_equal(explanation.probabilities, estimator.predict_proba(queries))
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), explanation.distances**2)
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1.0)
    assert explanation.relevances.shape == (15, 4)
    assert list(explanation.feature_names) == list("abcd")
    assert len(explanation.to_frame()) == explanation.neighbors.size
    assert len(explanation.in_words()) == len(explanation.to_dict()) == 15
    assert set(explanation.summarize("class", correlated="ignore")["group"]) <= set(
        estimator.classes_.tolist()
    )


@every
def test_pickles_clones_and_searches_a_grid(name, flowers):
    X, y = flowers
    fitted = quick(name).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    assert np.array_equal(again.predict_proba(X), fitted.predict_proba(X))
    assert clone(fitted).get_params() == fitted.get_params()
    pipeline = make_pipeline(StandardScaler(), quick(name))
    step = name.lower()
    grid = {f"{step}__{'n_neighbors' if name not in RANDOM else 'prototypes_per_class'}": [1, 2]}
    search = GridSearchCV(pipeline, grid, cv=2).fit(X, y)
    assert search.best_score_ > 0.8


@every
def test_labels_may_be_words(name, flowers):
    X, y = flowers
    words = np.array(["setosa", "versicolor", "virginica"])
    estimator, plain = quick(name).fit(X, words[y]), quick(name).fit(X, y)
    assert np.array_equal(estimator.predict(X), words[plain.predict(X)])


@every
@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.full((20, 2), np.nan), np.arange(20) % 2, "NaN"),
        (np.full((20, 2), np.inf), np.arange(20) % 2, "infinity"),
        (np.zeros((20, 2)), np.ones(20), "y has one class only"),
        (np.zeros((20, 2)), np.linspace(0, 1, 20), "Unknown label type"),
        (np.zeros((20, 2)), np.zeros(19), "inconsistent numbers of samples"),
        (np.array([["a", "b"]] * 20), np.arange(20) % 2, "could not convert string to float"),
    ],
)
def test_bad_input_gets_one_sentence_and_loses_nothing(name, X, y, message, flowers):
    estimator = quick(name).fit(*flowers)
    before = estimator.predict(flowers[0])
    with pytest.raises(ValueError, match=message):
        estimator.fit(X, y)
    assert np.array_equal(estimator.predict(flowers[0]), before)
    fresh = quick(name)
    with pytest.raises(ValueError, match=message):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(flowers[0])


@every
def test_fewer_points_than_neighbors_are_refused(name, flowers):
    if name in RANDOM:
        estimator = quick(name).fit([[0.0, 0.0], [1.0, 1.0]], [0, 1])
        assert estimator.predict([[0.1, 0.0], [0.9, 1.0]]).tolist() == [0, 1]
        return
    with pytest.raises(ValueError, match="n_neighbors=5 needs at least as many training rows"):
        quick(name).fit(np.eye(4), [0, 1, 0, 1])


@every
@pytest.mark.parametrize("parameter", ["n_jobs", "verbose", "random_state", "max_iter", "n_neighbors"])
def test_common_parameters_are_checked(name, parameter, flowers):
    estimator = quick(name)
    if parameter not in estimator.get_params():
        return
    estimator.set_params(**{parameter: "many"})
    with pytest.raises(ValueError, match=parameter if parameter != "random_state" else "seed"):
        estimator.fit(*flowers)


@every
def test_odd_but_valid_data(name):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[:, 1] = 3.0  # constant
    X[30:] = X[:30]  # duplicates, some with another label
    y = (X[:, 0] > 0).astype(int)
    y[40:45] = 1 - y[40:45]
    y[0] = 2  # a class of one point
    estimator = quick(name).fit(X, y)
    assert np.isfinite(estimator.predict_proba(X)).all()
    assert estimator.score(X, y) > 0.6


@every
def test_is_documented_with_formula_reference_and_example(name):
    estimator = getattr(baselines, name)
    text = inspect.getdoc(estimator)
    assert all(word in text for word in ("Parameters", "Attributes", "References", "Examples", ">>>", "="))
    assert all(f"{parameter} : " in text for parameter in estimator().get_params())
    assert all(f"{attribute}" in text for attribute in ("feature_weights_", "class_feature_weights_"))


@every
def test_parameters_are_keywords(name):
    signature = inspect.signature(getattr(baselines, name).__init__)
    by_place = [
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind is not parameter.KEYWORD_ONLY
    ]
    assert by_place in (["self"], ["self", "n_neighbors"])


def test_unknown_names_are_not_found():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        baselines.nothing  # noqa: B018
    assert set(baselines.__all__) <= set(dir(baselines))


@every
def test_values_too_large_to_be_squared_are_refused(name, flowers):
    X, y = flowers
    with pytest.raises(ValueError, match="too large to be squared"):
        quick(name).fit(X * 1e155, y)
    assert quick(name).fit(X * 1e120, y).score(X * 1e120, y) > 0.8

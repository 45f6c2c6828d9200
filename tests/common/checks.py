"""The checks that every public estimator passes: each takes a `Case`, if its condition holds."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lann.explain import (
    counterfactuals,
    influence,
    nearest_other_class,
    prototypical_rows,
    summarize,
    suspicious_rows,
)
from lann.model import NeighborModel

CHECKS = []


def check(applies=None):
    """Add a check to the list; `applies` says for which cases it holds."""

    def add(function):
        CHECKS.append((function, applies or (lambda case: True)))
        return function

    return add


def has(method):
    return lambda case: hasattr(case.cls, method)


def takes(parameter):
    return lambda case: parameter in inspect.signature(case.cls).parameters


def is_in_shards(case):
    return case.cls.__module__.startswith("lann.distributed")


def has_rows(case):
    """Return whether the model has the training rows in this process, and finds neighbors among them."""
    return hasattr(case.cls, "kneighbors") and not is_in_shards(case)


def has_model(case):
    annotated = any("model_" in vars(cls).get("__annotations__", {}) for cls in case.cls.__mro__)
    return annotated and not is_in_shards(case)


def has_table(case):
    return hasattr(case.cls, "_parameters")


# Parameters


@check()
def check_parameters_are_keywords(case):
    parameters = inspect.signature(case.cls).parameters.values()
    positional = [p.name for p in parameters if p.kind is not p.KEYWORD_ONLY]
    assert len(positional) <= 1


@check(has_table)
def check_every_parameter_is_in_the_table(case):
    assert set(case.cls._parameters) == set(case.make().get_params(deep=False))


@check(has_table)
def check_invalid_parameters_raise_one_sentence(case):
    for name in case.make().get_params(deep=False):
        estimator = case.make().set_params(**{name: object()})
        message = "cannot be used to seed" if name == "random_state" else name
        with pytest.raises(ValueError, match=message) as raised:
            estimator.fit(case.X, case.y)
        assert "\n" not in str(raised.value)


@check()
def check_documented(case):
    text = inspect.getdoc(case.cls)
    assert all(f"{word}\n---" in text for word in ("Attributes", "Examples"))
    names = case.make().get_params(deep=False)
    assert all(f"\n{name} : " in text for name in names)


# Results


@check(takes("n_jobs"))
def check_same_bits_at_any_number_of_threads(case):
    results = []
    for n_jobs in (1, 2):
        with threadpool_limits(n_jobs, user_api="blas"):
            results.append(case.result(case.fitted(n_jobs=n_jobs)))
    np.testing.assert_array_equal(*results)


@check()
def check_pickle_and_clone(case):
    fitted = case.fitted()
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(case.result(again), case.result(fitted))
    assert not hasattr(clone(fitted), "n_features_in_")
    np.testing.assert_array_equal(case.result(clone(fitted).fit(case.X, case.y)), case.result(fitted))


@check()
def check_changing_the_data_does_not_change_the_model(case):
    X, y = case.X.copy(), case.y.copy()
    fitted = case.make().fit(X, y)
    expected = case.result(fitted)
    X[:], y[:] = 0, 0
    np.testing.assert_array_equal(case.result(fitted), expected)


@check()
def check_rows_do_not_depend_on_each_other(case):
    fitted, X = case.fitted(), case.X[::10] + 0.01
    one_by_one = np.concatenate([case.result(fitted, row[None]) for row in X])
    np.testing.assert_allclose(one_by_one, case.result(fitted, X), rtol=1e-10, atol=1e-12)


@check()
def check_tables(case):
    X = pd.DataFrame(case.X, columns=list("abcd"), index=np.arange(len(case.X)) * 3)
    y = pd.Series(case.y if case.is_regressor else np.array(["x", "y", "z"])[case.y], index=X.index)
    fitted = case.make().fit(X, y)
    assert list(fitted.feature_names_in_) == list("abcd")
    np.testing.assert_array_equal(case.result(fitted, X), case.result(case.fitted(), case.X))
    with pytest.raises(ValueError, match="feature names should match"):
        case.result(fitted, X.rename(columns={"a": "e"}))


@check(has("transform"))
def check_names_of_the_output(case):
    fitted = case.fitted()
    names = fitted.get_feature_names_out()
    assert len(names) == fitted.transform(case.X[:3]).shape[1]
    assert all(name.startswith(case.cls.__name__.lower()) for name in names)


@check(lambda case: case.is_classifier)
def check_labels_and_probabilities(case):
    words = np.array(["setosa", "versicolor", "virginica"])
    plain, named = case.fitted(), case.make().fit(case.X, words[case.y])
    probabilities = plain.predict_proba(case.X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    np.testing.assert_array_equal(plain.predict(case.X), probabilities.argmax(axis=1))
    np.testing.assert_array_equal(named.predict(case.X), words[plain.predict(case.X)])
    assert plain.score(case.X, case.y) > 0.9


@check(lambda case: case.is_classifier)
def check_grid_search_in_a_pipeline(case):
    name = "n_neighbors" if takes("n_neighbors")(case) else "prototypes_per_class"
    if takes("estimator")(case):
        name = "estimator__n_neighbors"
    pipeline = make_pipeline(StandardScaler(), case.make())
    search = GridSearchCV(pipeline, {f"{case.cls.__name__.lower()}__{name}": [1, 2]}, cv=2)
    assert search.fit(case.X, case.y).best_score_ > 0.8


# Input


BAD_DATA = [
    (np.full((20, 2), np.nan), np.arange(20) % 2, "NaN|no value in any row"),
    (np.full((20, 2), np.inf), np.arange(20) % 2, "infinity"),
    (np.zeros((20, 2)), np.zeros(19), "inconsistent numbers of samples"),
    (np.array([["a", "b"]] * 20), np.arange(20) % 2, "could not convert string to float"),
    (np.zeros((20, 2)), np.ones(20), "y has one class only"),
    (np.zeros((20, 2)), np.linspace(0, 1, 20), "Unknown label type"),
]


@check()
def check_invalid_data_raises_and_keeps_the_previous_fit(case):
    needs_labels = case.make().__sklearn_tags__().target_tags.required
    fitted = case.fitted()
    expected = case.result(fitted)
    for X, y, message in BAD_DATA[: None if case.is_classifier else 2 + 2 * needs_labels]:
        with pytest.raises(ValueError, match=message):
            fitted.fit(X, y)
        np.testing.assert_array_equal(case.result(fitted), expected)
        fresh = case.make()
        with pytest.raises(ValueError, match=message):
            fresh.fit(X, y)
        with pytest.raises(NotFittedError):
            case.result(fresh)


@check(lambda case: case.is_classifier)
def check_constant_features_duplicates_and_small_classes(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[:, 1] = 3.0
    X[30:] = X[:30]
    y = (X[:, 0] > 0).astype(int)
    y[40:45] = 1 - y[40:45]
    y[0] = 2
    fitted = case.make().fit(X, y)
    probabilities = fitted.predict_proba(X)
    assert np.isfinite(probabilities).all()
    assert np.mean(probabilities.argmax(axis=1) == y) > 0.6


# Models and explanations


@check(has_model)
def check_model_protocol(case):
    model = case.fitted().model_
    assert isinstance(model, NeighborModel)
    queries = case.X[:9] + 0.01
    indices, distances = model.kneighbors(queries, 3)
    np.testing.assert_allclose(model.distances(queries, indices), distances, rtol=1e-8, atol=1e-12)
    contributions = model.contributions(queries, indices)
    np.testing.assert_allclose(contributions.sum(axis=2), distances, rtol=1e-8, atol=1e-12)
    votes = model.vote(*model.voters(queries))
    np.testing.assert_allclose(votes.shares.sum(axis=1), 1)
    np.testing.assert_allclose(votes.probabilities.sum(axis=1), 1)
    assert model.feature_weights().shape == model.X.shape
    matrices = model.local_matrices(np.array([0, 1]))
    assert (np.linalg.eigvalsh(matrices) > -1e-9).all()
    among = model.search_among(np.array([0, 2]))(queries, 1)[0]
    assert set(among.ravel()) <= {0, 1}
    allowed = np.zeros((9, model.n_classes), bool)
    allowed[:, 0] = True
    assert (model.labels[model.kneighbors_of_classes(queries, allowed, 1)[0]] == 0).all()


@check(has("feature_weights_"))
def check_feature_weights(case):
    fitted = case.fitted()
    weights = fitted.feature_weights_
    assert weights.shape == (len(fitted.model_.X), 4)
    assert np.isfinite(weights).all()
    assert (weights >= 0).all()
    assert weights.max() > 0
    np.testing.assert_allclose(fitted.mean_feature_weights_, weights.mean(axis=0))
    if case.is_classifier:
        np.testing.assert_allclose(
            fitted.class_feature_weights_[0], weights[fitted.model_.labels == 0].mean(axis=0)
        )


@check(lambda case: case.is_regressor)
def check_explanations_of_values(case):
    fitted, queries = case.fitted(), case.X[::10] + 0.01
    explanation = fitted.explain(queries)
    np.testing.assert_array_equal(explanation.predictions, fitted.predict(queries))
    np.testing.assert_array_equal(explanation.intervals, fitted.predict_interval(queries))
    mean = (explanation.vote_shares * explanation.adjusted).sum(axis=1)
    np.testing.assert_allclose(mean, explanation.predictions, rtol=1e-12, atol=1e-12)
    total = explanation.base_values[:, 0] + explanation.supports[:, 0].sum(axis=1)
    np.testing.assert_allclose(total, explanation.predictions, atol=1e-9)
    assert (explanation.support_errors > 0).all()
    assert 0 < explanation.relevances.max() <= 1
    assert len(explanation.to_frame()) == 15 * 4
    assert len(explanation.to_frame("neighbors")) == (explanation.vote_shares > 0).sum()
    assert (
        len(explanation.in_words()) == len(explanation.to_dict()) == len(explanation.to_frame("rows")) == 15
    )


@check(lambda case: case.is_classifier and hasattr(case.cls, "explain"))
def check_explanations(case):
    fitted = case.fitted()
    queries = case.X[::10] + 0.01
    explanation = fitted.explain(queries)
    np.testing.assert_array_equal(explanation.predictions, fitted.predict(queries))
    np.testing.assert_array_equal(explanation.probabilities, fitted.predict_proba(queries))
    if hasattr(fitted, "contributions"):  # not where rows are elsewhere
        contributions = fitted.contributions(queries)
        np.testing.assert_allclose(contributions.sum(axis=2), explanation.distances**2, atol=1e-12)
        assert fitted.neighbor_feature_weights(queries).shape == (15, 4)
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1)
    assert explanation.relevances.shape == (15, 4)
    assert 0 < explanation.relevances.max() <= 1
    assert explanation.supports.shape == (15, 3, 4)
    np.testing.assert_allclose(explanation.supports.sum(axis=1), 0, atol=1e-9)  # of all classes together
    assert (explanation.runner_up != explanation.predictions).all()
    total = explanation.base_values + explanation.supports.sum(axis=2)
    np.testing.assert_allclose(total, explanation.probabilities, atol=1e-9)
    assert (explanation.support_errors > 0).all()
    assert len(explanation.to_frame()) == 15 * 4
    assert len(explanation.to_frame("neighbors")) == (explanation.vote_shares > 0).sum()
    assert len(explanation.in_words()) == len(explanation.to_dict()) == 15
    assert set(summarize(explanation, "class", correlated="ignore")["group"]) <= {0, 1, 2}


@check(has_rows)
def check_neighbors_of_explanations(case):
    fitted, queries = case.fitted(), case.X[::10] + 0.01
    distances, indices = fitted.kneighbors(queries)
    explanation = fitted.explain(queries)
    np.testing.assert_array_equal(explanation.neighbors, indices)
    np.testing.assert_allclose(explanation.distances, distances, rtol=1e-8, atol=1e-12)
    _, others = fitted.kneighbors(n_neighbors=3)
    assert not (others == np.arange(150)[:, None]).any()


@check(lambda case: has_rows(case) and case.is_classifier)
def check_functions_of_explain(case):
    fitted, queries = case.fitted(), case.X[5::50]
    found = counterfactuals(fitted, queries, max_features=4)
    np.testing.assert_array_equal(found.labels, fitted.predict(found.rows))
    assert found.found.any()
    assert (nearest_other_class(fitted, queries).labels != fitted.predict(queries)).all()
    np.testing.assert_array_equal(influence(fitted, [0, 60], queries).predictions, fitted.predict(queries))
    assert prototypical_rows(fitted).votes.sum() == pytest.approx(150)
    assert suspicious_rows(fitted).scores.shape == (150,)

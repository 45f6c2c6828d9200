import re

import numpy as np
import pytest
from sklearn.base import clone, is_classifier
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.common import methods
from benchmarks.common.methods import (
    METHODS,
    Method,
    choose_methods,
    make_estimator,
    package_version,
    split_missing,
)
from benchmarks.common.published import COLUMNS
from lann import baselines

# Threads and seed of CatBoost have names of their own.
OTHER_NAMES = {"thread_count": 3, "random_seed": 17}


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_makes_classifiers_with_the_threads_and_the_seed(method):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", method.name)
    if method.missing is not None:
        pytest.skip(method.missing)
    estimator = make_estimator(method.name, 3, 17)
    assert is_classifier(clone(estimator))
    for name, value in estimator.get_params(deep=True).items():
        if name.endswith("n_jobs"):
            # None is one thread: the search for a parameter leaves threads to the estimator that it fits.
            assert value == 3 or (value is None and hasattr(estimator, "estimator"))
        if name.endswith("random_state"):
            assert value == 17
        if name in OTHER_NAMES:
            assert value == OTHER_NAMES[name]
    assert method.description.endswith(".")
    assert method.published in (None, *COLUMNS)


def test_names_are_unique_and_groups_are_together():
    names, groups = [m.name for m in METHODS], [m.group for m in METHODS]
    assert len(set(names)) == len(names)
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_variants_leave_out_a_level_of_the_metric():
    levels = {name: make_estimator(name, 1, 0).levels for name in ("lann-no-point", "lann-no-map")}
    assert levels == {
        "lann-no-point": ("curves", "map", "class"),
        "lann-no-map": ("curves", "class", "point"),
    }
    assert make_estimator("lann-point-only", 1, 0).levels == ("point",)
    assert make_estimator("lann-full", 1, 0).metric == "full"


def test_every_baseline_has_a_row_with_its_defaults():
    made = {type(row).__name__: row for row in (method.make(1, 0) for method in METHODS if not method.needs)}
    for name in baselines.__all__:
        given = {"n_jobs": 1, "random_state": 0}
        plain = getattr(baselines, name)().get_params()
        assert made[name].get_params() == plain | {key: given[key] for key in given if key in plain}


def test_slow_methods_are_not_in_quick_runs_unless_chosen(monkeypatch):
    slow = Method("slow", "slow", lambda n_jobs, seed: None, "Slow.", "LANN", quick=False)
    monkeypatch.setattr(methods, "METHODS", [*METHODS, slow])
    assert slow not in choose_methods(quick=True)
    assert slow in choose_methods()
    assert choose_methods(["slow"], quick=True) == [slow]


def test_a_method_without_its_package_is_left_out_with_a_reason():
    absent = Method(
        "absent", "absent", lambda n_jobs, seed: None, "A test.", "tests", needs="no_such_package"
    )
    (knn,) = choose_methods(["knn"])
    assert split_missing([absent, knn]) == (
        [knn],
        {"absent": "needs no_such_package, which is not installed: pip install 'lann[benchmarks]'."},
    )
    assert package_version(knn) == {}


@pytest.mark.parametrize("name", ["catboost", "lightgbm"])
def test_anchors_are_the_same_with_the_same_seed_and_have_probabilities(name, blobs):
    (method,) = choose_methods([name])
    if method.missing is not None:
        pytest.skip(method.missing)
    X, y = blobs
    assert set(package_version(method)) == {method.needs}
    first, second = (method.make(1, 3).fit(X, y).predict_proba(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    assert first.shape == (90, 3)


@pytest.mark.filterwarnings("ignore:Scoring failed", "ignore:One or more of the test scores")
def test_the_number_of_neighbors_is_chosen_on_the_training_rows(blobs):
    X, y = blobs
    rng = np.random.default_rng(0)
    noisy = np.where(rng.random(90) < 0.3, rng.integers(3, size=90), y)
    chosen = make_estimator("knn-cv", 1, 0).fit(X, noisy)
    # 100 neighbors are more than the training rows of a fold: no score, and not chosen.
    assert 5 < chosen.best_params_["n_neighbors"] <= 72
    single = cross_val_score(KNeighborsClassifier(1), X, noisy, cv=chosen.cv, scoring="accuracy")
    assert chosen.best_score_ > single.mean()


def test_an_unknown_method_is_named_with_the_known():
    with pytest.raises(ValueError, match=r"no method 'tree'; the methods are knn, .*lann"):
        choose_methods(["knn", "tree"])

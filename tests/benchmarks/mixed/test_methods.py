import re

import pytest
from sklearn.base import clone, is_classifier

from benchmarks.common.methods import make_estimator
from benchmarks.engine import fingerprint
from benchmarks.mixed.data import small_task
from benchmarks.mixed.methods import METHODS

ENCODED = [method for method in METHODS if method.name in ("knn", "forest", "lann-onehot")]
OTHERS = [method for method in METHODS if method.name in ("boosting", "catboost", "lightgbm")]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_makes_classifiers_with_the_threads_and_the_seed(method):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", method.name)
    if method.missing is not None:
        pytest.skip(method.missing)
    estimator = make_estimator(method.name, 3, 17, METHODS)
    assert is_classifier(clone(estimator))
    parameters = estimator.get_params(deep=True)
    seeds = {value for name, value in parameters.items() if name.endswith("random_state")}
    threads = {value for name, value in parameters.items() if name.endswith("n_jobs")}
    assert seeds <= {17}
    assert threads <= {3}
    assert seeds | threads
    assert method.description.endswith(".")


def test_names_are_unique_and_groups_are_together():
    names, groups = [m.name for m in METHODS], [m.group for m in METHODS]
    assert len(set(names)) == len(names)
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


@pytest.mark.parametrize("method", [*ENCODED, *OTHERS], ids=lambda method: method.name)
def test_methods_take_categories_and_gaps(method):
    if method.missing is not None:
        pytest.skip(method.missing)
    task = small_task()
    estimator = make_estimator(method.name, 1, 0, METHODS).fit(task.X_train, task.y_train)
    assert (estimator.predict(task.X_test) == task.y_test).mean() > 0.8
    assert estimator.predict_proba(task.X_test).shape == (200, 2)


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_a_method_has_the_same_fingerprint_in_every_run(method):
    if method.missing is not None:
        pytest.skip(method.missing)
    first, second = (
        fingerprint("benchmarks.mixed.measure", make_estimator(method.name, 1, 0, METHODS)) for _ in range(2)
    )
    assert first == second
    assert "0x" not in str(first["estimators"])

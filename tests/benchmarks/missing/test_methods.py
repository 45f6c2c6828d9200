import pytest
from sklearn.base import clone, is_classifier

from benchmarks.common.methods import make_estimator
from benchmarks.engine import fingerprint
from benchmarks.missing.data import informative_sources
from benchmarks.missing.methods import METHODS, TABLE_METHODS


def test_the_methods_of_tables_are_those_of_arrays():
    assert [method.name for method in METHODS] == [method.name for method in TABLE_METHODS]
    groups = [method.group for method in METHODS]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


@pytest.mark.parametrize("methods", [METHODS, TABLE_METHODS], ids=["arrays", "tables"])
@pytest.mark.parametrize("name", [method.name for method in METHODS])
def test_methods_have_the_threads_and_the_seed(methods, name):
    estimator = make_estimator(name, 3, 17, methods)
    assert is_classifier(clone(estimator))
    parameters = estimator.get_params(deep=True)
    assert {value for key, value in parameters.items() if key.endswith("random_state")} == {17}
    assert {value for key, value in parameters.items() if key.endswith("n_jobs")} <= {3}
    described = fingerprint("benchmarks.missing.tasks", estimator)["estimators"]
    assert described == fingerprint("benchmarks.missing.tasks", clone(estimator))["estimators"]
    assert "0x" not in str(described)


@pytest.mark.parametrize("name", ["forest", "boosting"])
def test_methods_take_gaps_of_arrays_and_tables(folder, name):
    (votes, planted), _ = informative_sources(["house-votes-84", "planted-gaps"])
    for source, methods in ((votes, TABLE_METHODS), (planted, METHODS)):
        task = source.make(0, 0)
        estimator = make_estimator(name, 1, 0, methods).fit(task.X_train, task.y_train)
        assert estimator.score(task.X_test, task.y_test) > 0.6


def test_imputed_arrays_suit_lann():
    ((planted,), _) = informative_sources(["planted-gaps"])
    task = planted.make(0, 0)
    estimator = make_estimator("lann-median", 1, 0, METHODS).set_params(lannclassifier__max_iter=2)
    assert estimator.fit(task.X_train, task.y_train).score(task.X_test, task.y_test) > 0.6

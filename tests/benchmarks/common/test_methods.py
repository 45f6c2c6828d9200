import re

import pytest
from sklearn.base import clone, is_classifier

from benchmarks.common import methods
from benchmarks.common.methods import METHODS, Method, choose_methods, make_estimator
from benchmarks.common.published import COLUMNS
from lann import baselines


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_every_method_makes_classifiers_with_the_threads_and_the_seed(method):
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", method.name)
    estimator = make_estimator(method.name, 3, 17)
    assert is_classifier(clone(estimator))
    for name, value in estimator.get_params(deep=True).items():
        if name.endswith("n_jobs"):
            assert value == 3
        if name.endswith("random_state"):
            assert value == 17
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
    made = {type(row).__name__: row for row in (method.make(1, 0) for method in METHODS)}
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


def test_an_unknown_method_is_named_with_the_known():
    with pytest.raises(ValueError, match=r"no method 'tree'; the methods are knn, .*lann"):
        choose_methods(["knn", "tree"])

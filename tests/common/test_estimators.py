"""Every public estimator passes scikit-learn's checks and the common ones."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from lann.persist._model_file import is_sharded
from tests.common.checks import CHECKS
from tests.common.estimators import CASES, public_estimators

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_all_estimators_are_found():
    assert {"LANNClassifier", "LANNEmbedding", "NeighborEmbedding", "LMNN", "PublishedLANN"} <= set(
        public_estimators()
    )


# This check sets max_iter=1000, which takes half a minute for LANNClassifier: the default configuration is
# enough, and that on Dask trains by the same functions.
SLOW = "check_class_weight_classifiers"


def is_quick(case):
    """Whether SLOW is left out."""
    return bool(case.parameters) or is_sharded(case.make())


@parametrize_with_checks([case.make() for case in CASES if not is_quick(case)])
def test_scikit_learn(estimator, check):
    check(estimator)


def name_of(check):
    return getattr(check, "func", check).__name__


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(estimator, check, id=f"{case!r}-{name_of(check)}")
        for case in CASES
        if is_quick(case)
        for estimator, check in estimator_checks_generator(case.make())
        if name_of(check) != SLOW
    ],
)
def test_scikit_learn_with_other_parameters(estimator, check):
    check(estimator)


@pytest.mark.parametrize(
    ("check", "case"),
    [
        pytest.param(check, case, id=f"{check.__name__.removeprefix('check_')}-{case!r}")
        for check, applies in CHECKS
        for case in CASES
        if applies(case)
    ],
)
def test_common(check, case):
    check(case)

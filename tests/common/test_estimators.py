"""Every public estimator passes scikit-learn's checks and the common ones."""

import pytest
from sklearn.utils.estimator_checks import estimator_checks_generator

from tests.common.checks import CHECKS
from tests.common.estimators import CASES, public_estimators

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def test_all_estimators_are_found():
    assert {"LANNClassifier", "LANNEmbedding", "NeighborEmbedding", "LMNN", "PublishedLANN"} <= set(
        public_estimators()
    )


def name_of(check):
    return getattr(check, "func", check).__name__


# This check sets max_iter=1000, which takes half a minute for LANNClassifier.
SLOW = "check_class_weight_classifiers"


@pytest.mark.parametrize(
    ("estimator", "check"),
    [
        pytest.param(
            estimator,
            check,
            id=f"{case!r}-{name_of(check)}",
            marks=[pytest.mark.slow] if name_of(check) == SLOW else [],
        )
        for case in CASES
        if not case.parameters
        for estimator, check in estimator_checks_generator(case.make())
    ],
)
def test_scikit_learn(estimator, check):
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

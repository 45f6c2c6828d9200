"""Hostile inputs are rejected or treated right: a short slice of the part "inputs", chosen by hypothesis."""

from types import SimpleNamespace

import dask
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError
from threadpoolctl import threadpool_limits

from tests.common.estimators import public_estimators
from tests.fuzz.inputs.cases import FAMILIES, check_unchanged, make_case
from tests.fuzz.inputs.checks import check_results
from tests.fuzz.inputs.part import run
from tests.fuzz.inputs.source import RandomSource
from tests.fuzz.inputs.subjects import SUBJECTS
from tests.fuzz.outcomes import REJECTED, RIGHT, WrongResult, try_case

N_EXAMPLES = 12
N_CASES = 40


class HypothesisSource:
    """Choices of hypothesis, which looks for a simpler case that fails, too."""

    def __init__(self, data):
        self._data = data

    def choose(self, items):
        return items[self.integer(len(items))]

    def integer(self, high):
        return self._data.draw(st.integers(0, high - 1))

    def chance(self, percent):
        return self.integer(100) < percent


@pytest.fixture(scope="module", autouse=True)
def without_threads():
    with dask.config.set(scheduler="synchronous"), threadpool_limits(1):
        yield


def test_every_public_estimator_is_tried():
    assert {subject.cls for subject in SUBJECTS} == set(public_estimators().values())


@pytest.mark.parametrize("family", list(dict.fromkeys(FAMILIES)), ids=lambda family: family.__name__)
@settings(max_examples=N_EXAMPLES)
@given(data=st.data())
def test_family(family, data):
    outcome = try_case(*family(HypothesisSource(data)))
    assert outcome.kind in (RIGHT, REJECTED), f"{outcome.name}: {outcome.detail}\n{outcome.trace}"


def test_cases_of_the_long_run():
    outcomes = [run(0, number) for number in range(N_CASES)]
    assert [o for o in outcomes if o.kind not in (RIGHT, REJECTED)] == []
    assert {outcome.kind for outcome in outcomes} == {RIGHT, REJECTED}


def test_seed_and_number_determine_the_case():
    names = [make_case(RandomSource(5, number))[0] for number in range(30)]
    assert names == [make_case(RandomSource(5, number))[0] for number in range(30)]
    assert names != [make_case(RandomSource(6, number))[0] for number in range(30)]


class Damaged:
    """An estimator whose methods do what a test says."""

    classes_ = np.arange(3)
    model_ = SimpleNamespace(n_rows=45)

    def __init__(self, error=None, distances=((0.0, 1.0),)):
        self._error, self._distances = error, distances

    def predict_proba(self, X):
        if self._error is not None:
            raise self._error
        return np.eye(3)[[0] * len(X)]

    def predict(self, X):
        return np.zeros(len(X))

    def kneighbors(self, X, k):
        if self._distances is None:
            raise ValueError("There are no neighbors.")
        return np.repeat(self._distances, len(X), axis=0), np.tile([3, 4], (len(X), 1))


SUBJECT = next(subject for subject in SUBJECTS if subject.name == "LMNN")


@pytest.mark.parametrize(
    ("error", "was_fitted"),
    [(None, False), (None, True), (ValueError("X has 3 features."), True), (NotFittedError("No."), True)],
)
def test_damaged_estimators_are_noticed(error, was_fitted):
    with pytest.raises(WrongResult):
        check_unchanged(SUBJECT, Damaged(error), was_fitted)


@pytest.mark.parametrize("distances", [None, [[1.0, 0.0]], [[0.0, np.inf]]])
def test_methods_that_disagree_are_noticed(distances):
    with pytest.raises(WrongResult):
        check_results(SUBJECT, Damaged(distances=distances), np.zeros((2, 4)), 2, explain=False)
    check_results(SUBJECT, Damaged(), np.zeros((2, 4)), 2, explain=False)

"""The exact front equals brute force over all thresholds; the greedy one is near."""

from itertools import product

import numpy as np
import pytest

from lann.reject._thresholds import (
    Target,
    budget_of,
    choose_thresholds,
    exact_front,
    group_steps,
)

TARGETS = [
    *(Target("cost", value) for value in (0.0, 0.05, 0.2, 0.35, 0.5, 1.0)),
    *(Target("coverage", value) for value in (0.0, 0.5, 0.7, 0.85, 1.0)),
    *(Target("risk", value) for value in (0.0, 0.05, 0.1, 0.2, 1.0)),
]


def make_rows(seed, n_rows=18, n_groups=3, n_levels=8):
    """Return certainties with ties, errors that are more frequent at low certainty, and groups."""
    rng = np.random.default_rng(seed)
    certainties = rng.integers(n_levels, size=n_rows) / n_levels
    groups = rng.integers(n_groups, size=n_rows)
    wrong = rng.random(n_rows) < 0.6 * (1 - certainties) * (0.5 + groups / n_groups)
    return certainties, wrong, groups


def all_outcomes(certainties, wrong, groups, n_groups):
    """Yield accepted rows for every choice of one threshold in each group."""
    levels = [-np.inf, *np.unique(certainties), np.inf]
    for chosen in product(levels, repeat=n_groups):
        # Rows at the threshold are rejected here, so that inf rejects all of a group.
        yield certainties > np.array(chosen)[groups]


def errors_and_rejected(accepted, wrong):
    return int((wrong & accepted).sum()), int((~accepted).sum())


@pytest.mark.parametrize("seed", range(8))
def test_exact_front_is_brute_force(seed):
    certainties, wrong, groups = make_rows(seed)
    best = {}
    for accepted in all_outcomes(certainties, wrong, groups, 3):
        true, false = int((wrong & ~accepted).sum()), int((~wrong & ~accepted).sum())
        best[true] = min(best.get(true, 99), false)
    steps = [group_steps(certainties[groups == g], wrong[groups == g]) for g in range(3)]
    front = exact_front(steps)
    assert dict(zip(front.true.tolist(), front.false.tolist(), strict=True)) == best
    np.testing.assert_array_equal(front.n_rejected.sum(axis=1), front.true + front.false)


def value_of(target, accepted, wrong):
    """Return what a target minimizes; infinite if it is not satisfied."""
    errors, rejected = errors_and_rejected(accepted, wrong)
    n_accepted = len(wrong) - rejected
    if target.kind == "cost":
        return errors + target.value * rejected
    if target.kind == "coverage":
        return errors if n_accepted >= target.value * len(wrong) - 1e-9 else np.inf
    return rejected if errors <= target.value * n_accepted else np.inf


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.kind}={t.value}")
def test_exact_thresholds_are_the_best(target):
    for seed in range(4):
        certainties, wrong, groups = make_rows(seed)
        best = min(value_of(target, a, wrong) for a in all_outcomes(certainties, wrong, groups, 3))
        thresholds = choose_thresholds(certainties, wrong, groups, 3, target, exact=True)
        found = value_of(target, certainties >= thresholds[groups], wrong)
        assert found == pytest.approx(best)


@pytest.mark.parametrize("target", TARGETS, ids=lambda t: f"{t.kind}={t.value}")
def test_greedy_thresholds_satisfy_the_target_and_are_near(target):
    for seed in range(6):
        certainties, wrong, groups = make_rows(seed, n_rows=200, n_levels=40)
        values = []
        for exact in (False, True):
            thresholds = choose_thresholds(certainties, wrong, groups, 3, target, exact=exact)
            values.append(value_of(target, certainties >= thresholds[groups], wrong))
        greedy, exact = values
        if target.kind == "cost":
            assert greedy == pytest.approx(exact)
        else:
            assert exact <= greedy <= exact + 0.1 * len(wrong)


def test_rows_rejected_for_another_reason_count_in_the_coverage():
    assert budget_of(0.9, n_rows=95, n_total=100) == 5
    assert budget_of(0.9, n_rows=80, n_total=100) == 0
    certainties, wrong = np.arange(95.0), np.arange(95) < 20
    threshold = choose_thresholds(
        certainties, wrong, np.zeros(95, int), 1, Target("coverage", 0.9), n_total=100
    )[0]
    assert (certainties < threshold).sum() == 5


def test_ties_are_rejected_together():
    certainties = np.array([0.5] * 6 + [0.9] * 4)
    wrong = np.array([True] + [False] * 9)
    threshold = choose_thresholds(certainties, wrong, np.zeros(10, int), 1, Target("coverage", 0.7))[0]
    assert threshold == -np.inf
    threshold = choose_thresholds(certainties, wrong, np.zeros(10, int), 1, Target("risk", 0.0))[0]
    assert 0.5 < threshold <= 0.9

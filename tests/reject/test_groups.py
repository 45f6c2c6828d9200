import numpy as np
import pytest

from lann.reject._groups import excess_errors, merge_groups


def make_rows(rates, n_rows=400, seed=0):
    """Return certainties, errors and groups, of which each has more or fewer errors at equal certainty."""
    rng = np.random.default_rng(seed)
    groups = np.arange(n_rows * len(rates)) % len(rates)
    certainties = rng.random(len(groups))
    wrong = rng.random(len(groups)) < np.array(rates)[groups] * (1.2 - certainties)
    return certainties, wrong, groups


def test_groups_that_differ_have_a_threshold_of_their_own():
    threshold_of = merge_groups(*make_rows([0.1, 0.1, 0.6, 0.1]), 4)
    np.testing.assert_array_equal(threshold_of, [0, 0, 1, 0])


def test_groups_that_do_not_differ_share_one():
    n_own = [int((merge_groups(*make_rows([0.2] * 5, seed=seed), 5) > 0).sum()) for seed in range(40)]
    assert np.mean(np.array(n_own) > 0) <= 0.15


def test_lower_certainties_explain_errors():
    certainties, wrong, groups = make_rows([0.3, 0.3])
    # Group 1 has the rows of low certainty, and more errors for that reason alone.
    groups = (certainties < 0.5).astype(int)
    assert wrong[groups == 1].mean() > 1.5 * wrong[groups == 0].mean()
    certainties = np.concatenate([certainties, certainties])
    wrong, groups = np.concatenate([wrong, wrong]), np.concatenate([groups, np.full(len(groups), 2)])
    assert abs(excess_errors(certainties, wrong, groups == 1)) < 2


def test_sign_and_empty_groups():
    certainties, wrong, groups = make_rows([0.1, 0.5])
    assert excess_errors(certainties, wrong, groups == 1) > 3
    assert excess_errors(certainties, wrong, groups == 0) < -3
    assert excess_errors(certainties, wrong, groups == 7) == 0.0
    assert excess_errors(certainties, wrong, groups >= 0) == 0.0


def test_infinite_certainties():
    certainties, wrong, groups = make_rows([0.1, 0.5])
    certainties[::9] = -np.inf
    assert np.isfinite(excess_errors(certainties, wrong, groups == 1))


def test_scale_of_certainties_does_not_matter():
    certainties, wrong, groups = make_rows([0.1, 0.3])
    first = excess_errors(certainties, wrong, groups == 1)
    assert excess_errors(np.exp(5 * certainties), wrong, groups == 1) == pytest.approx(first)

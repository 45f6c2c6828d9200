"""Planted relevance: the label depends on the masked features and on nothing else."""

import numpy as np
import pytest

from lann.datasets import make_local_relevance


def test_shapes_scales_and_balance():
    X, y, mask = make_local_relevance(5000, 12, random_state=0)
    assert X.shape == mask.shape == (5000, 12)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)
    assert abs(y.mean() - 0.5) < 0.03
    assert (mask.sum(axis=1) == 2).all()
    assert not mask[:, 0].any()


def test_every_region_has_features_of_its_own():
    X, _, mask = make_local_relevance(1000, 10, n_regions=4, random_state=1)
    region = np.floor((X[:, 0] / np.sqrt(3) + 1) * 2).astype(int)
    deciding = [np.unique(mask[region == place], axis=0) for place in range(4)]
    assert [len(rows) for rows in deciding] == [1] * 4
    assert np.concatenate(deciding).sum(axis=0).max() == 1


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        ("xor", lambda a, b: a * b > 0),
        ("radial", lambda a, b: a**2 + b**2 > 2 * np.log(2)),
        ("linear", lambda a, b: a + b > 0),
    ],
)
def test_the_masked_features_decide_by_the_rule(rule, label):
    X, y, mask = make_local_relevance(300, 9, rules=[rule], random_state=2)
    one, other = X[mask].reshape(-1, 2).T
    assert np.array_equal(y == 1, label(one, other))


def test_duplicates_decide_and_decoys_do_not():
    X, _, mask = make_local_relevance(
        4000, 14, n_decoys=2, n_duplicates=2, decoy_correlation=0.7, random_state=3
    )
    correlations = np.corrcoef(X.T) - np.eye(14)
    pairs = np.argwhere(np.triu(correlations) > 0.99)
    assert len(pairs) == 2
    for one, other in pairs:
        assert np.array_equal(mask[:, one], mask[:, other])
        assert mask[:, one].any()
    followers = np.argwhere(np.triu(np.abs(correlations - 0.7) < 0.05))
    assert len(followers) >= 2
    assert mask.any(axis=0).sum() == 6 + 2


def test_noise_turns_labels_over():
    quiet, noisy = (make_local_relevance(2000, random_state=4, label_noise=share)[1] for share in (0, 0.2))
    assert abs(np.mean(quiet != noisy) - 0.2) < 0.03


def test_the_same_seed_gives_the_same_data():
    for one, other in zip(
        make_local_relevance(50, random_state=5), make_local_relevance(50, random_state=5), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 6}, "n_features == 6, must be >= 7"),
        ({"n_features": 8, "n_decoys": 2}, "n_features == 8, must be >= 9"),
        ({"rules": ["cubic"]}, "rules must be some of"),
        ({"rules": []}, "rules must be some of"),
        ({"label_noise": 0.6}, "label_noise == 0.6"),
        ({"n_samples": 0}, "n_samples == 0"),
    ],
)
def test_what_cannot_be_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        make_local_relevance(**options)

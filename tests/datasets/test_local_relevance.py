"""The label depends on the features in the mask and on no others."""

import numpy as np
import pytest

from lann.datasets import make_local_relevance


def test_features_are_standardized_and_classes_balanced():
    X, y, mask = make_local_relevance(5000, 12, random_state=0)
    assert X.shape == mask.shape == (5000, 12)
    np.testing.assert_allclose(X.mean(axis=0), 0.0, atol=0.06)
    np.testing.assert_allclose(X.std(axis=0), 1.0, atol=0.05)
    assert abs(y.mean() - 0.5) < 0.03
    assert (mask.sum(axis=1) == 2).all()
    assert not mask[:, 0].any()


def test_no_feature_is_relevant_in_two_regions():
    X, _, mask = make_local_relevance(1000, 10, n_regions=4, random_state=1)
    region = np.floor((X[:, 0] / np.sqrt(3) + 1) * 2).astype(int)
    relevant = [np.unique(mask[region == index], axis=0) for index in range(4)]
    assert [len(rows) for rows in relevant] == [1] * 4
    assert np.concatenate(relevant).sum(axis=0).max() == 1


@pytest.mark.parametrize(
    ("rule", "label"),
    [
        ("xor", lambda a, b: a * b > 0),
        ("radial", lambda a, b: a**2 + b**2 > 2 * np.log(2)),
        ("linear", lambda a, b: a + b > 0),
    ],
)
def test_label_follows_the_rule_of_the_relevant_features(rule, label):
    X, y, mask = make_local_relevance(300, 9, rules=[rule], random_state=2)
    one, other = X[mask].reshape(-1, 2).T
    assert np.array_equal(y == 1, label(one, other))


def test_duplicates_are_relevant_and_decoys_are_not():
    X, _, mask = make_local_relevance(
        4000, 14, n_decoys=2, n_duplicates=2, decoy_correlation=0.7, random_state=3
    )
    correlations = np.corrcoef(X.T) - np.eye(14)
    pairs = np.argwhere(np.triu(correlations) > 0.99)
    assert len(pairs) == 2
    for one, other in pairs:
        assert np.array_equal(mask[:, one], mask[:, other])
        assert mask[:, one].any()
    decoys = np.argwhere(np.triu(np.abs(correlations - 0.7) < 0.05))
    assert len(decoys) >= 2
    assert mask.any(axis=0).sum() == 6 + 2


def test_label_noise_flips_labels():
    clean, noisy = (make_local_relevance(2000, random_state=4, label_noise=share)[1] for share in (0, 0.2))
    assert abs(np.mean(clean != noisy) - 0.2) < 0.03


def test_random_state_determines_the_data():
    for one, other in zip(
        make_local_relevance(50, random_state=5), make_local_relevance(50, random_state=5), strict=True
    ):
        assert np.array_equal(one, other)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_features": 6}, "n_features must be an integer of at least 7; got 6"),
        ({"n_features": 8, "n_decoys": 2}, "n_features must be an integer of at least 9; got 8"),
        ({"rules": ["cubic"]}, "rules must be some of"),
        ({"rules": []}, "rules must be some of"),
        ({"label_noise": 0.6}, "label_noise must be a number of at least 0 and at most 0.5; got 0.6"),
        ({"n_samples": 0}, "n_samples must be an integer of at least 1; got 0"),
    ],
)
def test_invalid_parameters_raise(options, message):
    with pytest.raises(ValueError, match=message):
        make_local_relevance(**options)

"""Sample weights: a row of weight 2 is the row twice, and one of weight 0 is not there."""

import numpy as np
import pytest
from sklearn import config_context
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.explain import counterfactuals


def clf_of(**parameters):
    return LANNClassifier(**{"max_iter": 4, "random_state": 0} | parameters)


@pytest.fixture
def counts():
    return np.random.default_rng(5).integers(0, 4, 90)


PARAMETERS = [
    {},
    {"class_weight": "balanced"},
    {"class_weight": {0: 1.0, 1: 3.0, 2: 0.5}},
    {"metric": "full"},
    {"metric": "low_rank", "n_components": 2},
    {"early_stopping": True},
    {"levels": ("map", "point"), "n_neighbors": 12},
    {"max_iter": 0},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_weights_are_repeated_rows(blobs, counts, parameters):
    X, y = blobs
    shuffled = np.random.default_rng(1).permutation(90)
    parameters = parameters | {"n_candidates": None}
    weighted = clf_of(**parameters).fit(X[shuffled], y[shuffled], sample_weight=counts[shuffled])
    repeated = clf_of(**parameters).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    queries = X + 0.1
    np.testing.assert_allclose(
        weighted.predict_proba(queries), repeated.predict_proba(queries), rtol=1e-9, atol=1e-12
    )
    assert weighted.loss_curve_ == repeated.loss_curve_
    assert weighted.levels_ == repeated.levels_
    for name in ("class_feature_weights_", "mean_feature_weights_"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-9)
    assert not np.allclose(
        weighted.predict_proba(queries), clf_of(**parameters).fit(X, y).predict_proba(queries)
    )


def test_a_row_of_weight_0_is_not_there(blobs):
    X, y = blobs
    keep = np.arange(90) % 4 > 0
    without = clf_of().fit(X[keep], y[keep])
    weighted = clf_of().fit(X, y, sample_weight=keep)
    np.testing.assert_array_equal(weighted.model_.X, X[keep])
    np.testing.assert_array_equal(weighted.predict_proba(X), without.predict_proba(X))
    np.testing.assert_array_equal(
        weighted.kneighbors(X, return_distance=False), without.kneighbors(X, return_distance=False)
    )
    assert weighted.model_.row_weights is None


def test_the_vote_of_weighted_rows():
    """Neighbors at squared distances 1, 4 and 9, of weights 2, 1.5 and 5, until four votes are counted."""
    X, y = np.array([[1.0], [-2.0], [3.0], [50.0]]), np.array(["a", "b", "a", "b"])
    clf = LANNClassifier(4, max_iter=0, power=1.0).fit(X, y, sample_weight=[2, 1.5, 5, 9])
    epsilon = clf.model_.vote_rule.epsilon
    support = np.array([2.0, 1.5, 0.5]) / (np.array([1.0, 4.0, 9.0]) + epsilon)
    expected = support / support.sum()
    probabilities = clf.model_.vote_rule.probabilities(np.array([[expected[0] + expected[2], expected[1]]]))
    np.testing.assert_allclose(clf.predict_proba([[0.0]]), probabilities)
    explanation = clf.explain([[0.0]])
    np.testing.assert_array_equal(explanation.neighbors, [[0, 1, 2]])
    np.testing.assert_allclose(explanation.vote_shares, [expected])
    np.testing.assert_allclose(explanation.distances, [[1.0, 2.0, 3.0]])


@pytest.mark.parametrize(
    ("weights", "expected"),
    [([0.1, 0.3, 0.0, 0.2], [0.5, 1.5, 1.0]), ([1.0, 3.0, 0.0, 2.0], [1.0, 3.0, 2.0])],
)
def test_weights_with_a_mean_below_1_are_divided_by_it(weights, expected):
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    clf = LANNClassifier(2, max_iter=0).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(clf.model_.row_weights, expected)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0] * 3, r"a weight for each of the 4 rows; got shape \(3,\)"),
        ([[1.0]] * 4, r"a weight for each of the 4 rows; got shape \(4, 1\)"),
        (2.0, r"a weight for each of the 4 rows; got shape \(\)"),
        ([1, 1, np.nan, 1], "finite and at least 0; got nan"),
        ([1, 1, np.inf, 1], "finite and at least 0; got inf"),
        ([1, 1, -0.5, 1], "finite and at least 0; got -0.5"),
        ([0, 0, 0, 0], "zero for every row"),
        ([1, 1, 1e200, 1], r"between 1e-100 and 1e\+100"),
        (["a", "b", "c", "d"], "must be a list of numbers"),
        ([None, 1, 1, {}], "must be a list of numbers"),
    ],
)
def test_invalid_weights_raise_one_sentence(weights, message):
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    for method in ("fit", "partial_fit"):
        clf = LANNClassifier(2, max_iter=0)
        with pytest.raises(ValueError, match=message) as raised:
            getattr(clf, method)(X, y, sample_weight=weights)
        assert "\n" not in str(raised.value)
        assert not hasattr(clf, "model_")


def test_training_depends_on_weights(blobs):
    """Feature 3 matters for the rows that count, feature 2 for the others."""
    rng = np.random.default_rng(0)
    X, half = rng.normal(size=(400, 4)), np.arange(400) < 200
    y = np.where(half, X[:, 2] > 0, X[:, 3] > 0)
    relevances = [
        clf_of(max_iter=None, levels=("curves",)).fit(X, y, sample_weight=weights).mean_feature_weights_
        for weights in (np.where(half, 9.0, 1.0), np.where(half, 1.0, 9.0))
    ]
    assert relevances[0][2] > 2 * relevances[0][3]
    assert relevances[1][3] > 2 * relevances[1][2]


# partial_fit


def test_partial_fit_keeps_weights(blobs):
    order = np.random.default_rng(1).permutation(90)
    X, y = (part[order] for part in blobs)
    weights = np.random.default_rng(0).uniform(0.5, 4.0, 90)
    clf = clf_of().partial_fit(X[:60], y[:60], sample_weight=weights[:60])
    first = clf_of().fit(X[:60], y[:60], sample_weight=weights[:60])
    np.testing.assert_array_equal(clf.predict_proba(X), first.predict_proba(X))
    clf.partial_fit(X[60:75], y[60:75])
    clf.partial_fit(X[75:], y[75:], sample_weight=weights[75:] * (np.arange(15) > 2))
    expected = np.concatenate([weights[:60], np.ones(15), weights[78:]])
    np.testing.assert_array_equal(clf.model_.row_weights, expected)
    np.testing.assert_array_equal(clf.model_.X, np.concatenate([X[:75], X[78:]]))


def test_the_unit_of_weights_is_that_of_the_first_call(blobs):
    X, y = blobs
    clf = clf_of().partial_fit(X[:60], y[:60], classes=[0, 1, 2], sample_weight=np.full(60, 0.01))
    assert clf.model_.row_weights is None
    clf.partial_fit(X[60:], y[60:], sample_weight=np.full(30, 0.03))
    np.testing.assert_allclose(clf.model_.row_weights, np.repeat([1.0, 3.0], [60, 30]))
    # A new fit has its own unit, and a failed one changes nothing.
    with pytest.raises(ValueError, match="zero for every row"):
        clf.fit(X, y, sample_weight=np.zeros(90))
    clf.partial_fit(X[:1], y[:1], sample_weight=[0.02])
    np.testing.assert_allclose(clf.model_.row_weights[-1], 2.0)
    clf.fit(X, y).partial_fit(X[:1], y[:1], sample_weight=[0.02])
    np.testing.assert_allclose(clf.model_.row_weights, [1.0] * 90 + [0.02])


# Explanations


def test_explanations_of_weighted_rows(blobs):
    X, y = blobs
    weights = np.random.default_rng(0).choice([0.4, 1.0, 3.0], 90)
    clf = clf_of().fit(X, y, sample_weight=weights)
    explanation = clf.explain(X, leave_out=None)
    np.testing.assert_array_equal(explanation.probabilities, clf.predict_proba(X))
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(clf.contributions(X).sum(axis=2), explanation.distances**2, rtol=1e-9)
    assert np.any(explanation.vote_shares == 0)
    for i, sentence in enumerate(explanation.in_words()):
        row, voted = explanation.row(i), explanation.vote_shares[i] > 0
        assert row.neighbors.tolist() == explanation.neighbors[i, voted].tolist()
        named = sentence.partition("such as ")[2].partition(". Reasons")[0].partition(";")[0]
        named = named.replace(",", " ")
        without_vote = set(explanation.neighbors[i, ~voted].tolist())
        assert not without_vote & {int(word) for word in named.split() if word.isdigit()}
    changes = counterfactuals(clf, X[:10])
    np.testing.assert_array_equal(clf.predict(changes.rows), changes.labels)
    assert changes.found.all()


# With scikit-learn


def test_metadata_routing_through_a_pipeline(blobs, counts):
    X, y = blobs
    with config_context(enable_metadata_routing=True):
        scaler = StandardScaler().set_fit_request(sample_weight=False)
        pipeline = make_pipeline(scaler, clf_of().set_fit_request(sample_weight=True))
        pipeline.fit(X, y, sample_weight=counts)
    expected = clf_of().fit(StandardScaler().fit_transform(X), y, sample_weight=counts)
    np.testing.assert_array_equal(
        pipeline.predict_proba(X), expected.predict_proba(StandardScaler().fit_transform(X))
    )

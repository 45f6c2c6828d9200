"""Sample weights: a row of weight 2 is the row twice, and one of weight 0 is not there."""

import numpy as np
import pandas as pd
import pytest
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.explain import counterfactuals, prototypical_rows, suspicious_rows


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


def test_in_the_shortlist_a_row_is_one_row(blobs):
    """30 copies of the nearest row fill a shortlist of 20; one row of weight 30 does not."""
    X, y = blobs
    weights = np.where(np.arange(90) == 0, 30, 1)
    parameters = {"max_iter": 0, "n_candidates": 20, "n_neighbors": 40}
    repeated = clf_of(**parameters).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    weighted = clf_of(**parameters).fit(X, y, sample_weight=weights)
    same = {"max_iter": 0, "n_candidates": None, "n_neighbors": 40}
    expected = clf_of(**same).fit(X, y, sample_weight=weights).predict_proba(X[:1] + 0.01)
    np.testing.assert_allclose(repeated.predict_proba(X[:1] + 0.01), expected, rtol=1e-9)
    np.testing.assert_allclose(weighted.predict_proba(X[:1] + 0.01), expected, rtol=1e-9)
    # A shortlist of 40 rows, of which the weighted model needs 11.
    assert weighted.model_.n_voters == 40


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


def test_a_class_whose_rows_have_no_weight_is_not_there(blobs):
    X, y = blobs
    clf = clf_of().fit(X, y, sample_weight=y < 2)
    np.testing.assert_array_equal(clf.classes_, [0, 1])
    with pytest.raises(ValueError, match="one class only"):
        clf_of().fit(X, y, sample_weight=y == 2)


def test_equal_weights_change_nothing(blobs):
    X, y = blobs
    expected = clf_of().fit(X, y).predict_proba(X)
    for weights in (None, np.ones(90), np.full(90, 0.01), [True] * 90):
        np.testing.assert_array_equal(clf_of().fit(X, y, weights).predict_proba(X), expected)


def test_the_order_of_weighted_rows_does_not_matter(blobs):
    X, y = blobs
    weights = np.random.default_rng(0).uniform(0.1, 3.0, 90)
    order = np.random.default_rng(1).permutation(90)
    one, other = clf_of().fit(X, y, weights), clf_of().fit(X[order], y[order], weights[order])
    np.testing.assert_array_equal(other.predict_proba(X), one.predict_proba(X))
    np.testing.assert_array_equal(other.model_.levels.weights, one.model_.levels.weights[order])


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


def test_weights_add_up_to_enough_rows():
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 1]
    assert LANNClassifier(6, max_iter=0).fit(X, y, [2, 2, 1, 1]).predict_proba(X).shape == (4, 2)
    with pytest.raises(ValueError, match=r"n_neighbors=6 needs at least as many training rows"):
        LANNClassifier(6, max_iter=0).fit(X, y, [2, 1, 1, 1])


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
        (["a", "b", "c", "d"], "must have numbers"),
        ([None, 1, 1, {}], "must have numbers"),
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


@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_extreme_weights_stay_finite(blobs, metric):
    X, y = blobs
    weights = np.random.default_rng(0).permutation(np.logspace(-90, 90, 90))
    clf = clf_of(metric=metric).fit(X, y, sample_weight=weights)
    assert np.all(np.isfinite(clf.predict_proba(X)))
    np.testing.assert_allclose(clf.predict_proba(X).sum(axis=1), 1.0)
    assert np.all(np.isfinite(clf.loss_curve_))


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


@pytest.mark.parametrize(
    ("metric", "parameter"), [("diagonal", "point_log_weights"), ("full", "point_matrices")]
)
def test_a_heavy_row_takes_larger_steps(blobs, metric, parameter):
    X, y = blobs
    moves = []
    for weight in (1e-4, 2e-4, 1e6):
        clf = clf_of(metric=metric, smoothing=0.0).fit(X[:80], y[:80])
        before = getattr(clf.model_.levels, parameter)
        clf.partial_fit(X[80:81], y[80:81], sample_weight=[weight])
        moves.append(np.abs(getattr(clf.model_.levels, parameter)[:80] - before).max())
    assert moves[0] > 0
    assert moves[1] == pytest.approx(2 * moves[0], rel=0.01)
    assert moves[1] < moves[2] <= 0.5 + 1e-9


def test_few_heavy_rows_are_enough_to_learn(blobs):
    X, y = blobs
    few = np.arange(0, 90, 9)
    assert clf_of().partial_fit(X[few], y[few]).n_iter_ == 0
    assert clf_of().partial_fit(X[few], y[few], sample_weight=np.full(10, 3)).n_iter_ == 4
    clf = clf_of().partial_fit(X[few[:5]], y[few[:5]], classes=[0, 1, 2], sample_weight=np.full(5, 3))
    assert clf.n_iter_ == 0
    clf.partial_fit(X[few[5:]], y[few[5:]], sample_weight=np.full(5, 3))
    assert clf.n_iter_ == 4
    np.testing.assert_array_equal(clf.model_.row_weights, np.full(10, 3.0))


# Explanations


def test_explanations_of_weighted_rows(blobs):
    X, y = blobs
    weights = np.random.default_rng(0).choice([0.4, 1.0, 3.0], 90)
    clf = clf_of().fit(X, y, sample_weight=weights)
    explanation = clf.explain(X, leave_out=None)
    np.testing.assert_array_equal(explanation.probabilities, clf.predict_proba(X))
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1.0)
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), explanation.distances**2, rtol=1e-9)
    assert np.any(explanation.vote_shares == 0)
    for row, sentence in zip(explanation.rows(), explanation.in_words(), strict=True):
        without_vote = set(row.neighbors[row.vote_shares == 0].tolist())
        named = sentence.partition("similar to ")[2].partition(" in ")[0].replace(",", " ")
        assert not without_vote & {int(word) for word in named.split() if word.isdigit()}
    changes = counterfactuals(clf, X[:10])
    np.testing.assert_array_equal(clf.predict(changes.rows), changes.labels)
    assert changes.found.all()


def test_votes_of_prototypical_rows_are_weighted(blobs):
    X, y = blobs
    parameters = {"max_iter": 0, "n_candidates": None, "n_neighbors": 5, "power": 1.0}
    heavy = np.where(np.arange(90) == 7, 5.0, 1.0)
    light, weighted = clf_of(**parameters).fit(X, y), clf_of(**parameters).fit(X, y, sample_weight=heavy)
    votes = prototypical_rows(weighted)
    assert votes.votes[7] > 2 * prototypical_rows(light).votes[7]
    assert votes.votes.sum() == pytest.approx(90)
    # The row fills the vote on its neighbors, on which it counts no more often than before.
    assert votes.n_queries[7] == prototypical_rows(light).n_queries[7]
    assert votes.n_queries.sum() < 90 * 5


def test_neighbors_that_count_more_contradict_more(blobs):
    X, y = blobs
    equal = suspicious_rows(clf_of(max_iter=0).fit(X, y))
    weighted = suspicious_rows(clf_of(max_iter=0).fit(X, y, sample_weight=np.where(y == 1, 5.0, 1.0)))
    assert np.all(weighted.scores[y == 1] <= equal.scores[y == 1] + 1e-12)
    assert weighted.scores[y == 0].mean() > equal.scores[y == 0].mean() + 0.05
    assert np.all((weighted.likely == 1) | (equal.likely != 1))


def test_relevances_are_those_of_the_rows_that_count():
    rng = np.random.default_rng(0)
    X, half = rng.normal(size=(300, 3)), np.arange(300) < 150
    y = np.where(half, X[:, 0] > 0, X[:, 1] > 0)
    clf = clf_of(max_iter=0, n_candidates=None)
    relevances = clf.fit(X, y, sample_weight=np.where(half, 20.0, 1.0)).explain(X).relevances.mean(axis=0)
    assert relevances[0] > 1.5 * relevances[1]


# With scikit-learn


def test_a_pandas_series_of_weights(blobs, counts):
    X, y = blobs
    series = pd.Series(counts, index=np.arange(90)[::-1])
    clf = clf_of().fit(pd.DataFrame(X), pd.Series(y), sample_weight=series)
    np.testing.assert_array_equal(clf.model_.row_weights, counts[counts > 0])


def test_cross_validation_splits_the_weights(blobs, counts):
    X, y = blobs
    cv = [(np.arange(0, 90, 2), np.arange(1, 90, 2)), (np.arange(1, 90, 2), np.arange(0, 90, 2))]
    found = cross_validate(clf_of(), X, y, cv=cv, params={"sample_weight": counts}, return_estimator=True)
    for (training, test), clf, score in zip(cv, found["estimator"], found["test_score"], strict=True):
        expected = clf_of().fit(X[training], y[training], sample_weight=counts[training])
        np.testing.assert_array_equal(clf.predict_proba(X), expected.predict_proba(X))
        assert score == pytest.approx(expected.score(X[test], y[test]))


def test_grid_search_passes_the_weights(blobs, counts):
    X, y = blobs
    search = GridSearchCV(clf_of(max_iter=1), {"n_neighbors": [3, 5]}, cv=2).fit(X, y, sample_weight=counts)
    expected = clf_of(max_iter=1, **search.best_params_).fit(X, y, sample_weight=counts)
    np.testing.assert_array_equal(search.best_estimator_.predict_proba(X), expected.predict_proba(X))


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


def test_bagging(blobs):
    X, y = blobs
    bagging = BaggingClassifier(clf_of(max_iter=2), n_estimators=4, random_state=0).fit(X[::2], y[::2])
    assert bagging.score(X[1::2], y[1::2]) > 0.7
    first, drawn = bagging.estimators_[0], bagging.estimators_samples_[0]
    weights = np.bincount(drawn, minlength=45)
    expected = clf_of(max_iter=2, random_state=first.random_state).fit(X[::2], y[::2], sample_weight=weights)
    np.testing.assert_array_equal(first.predict_proba(X), expected.predict_proba(X))


def test_boosting(blobs):
    """With power=0 the nearest row, on training rows the row itself, does not decide alone."""
    X, y = blobs
    member = clf_of(max_iter=2, power=0.0)
    boosting = AdaBoostClassifier(member, n_estimators=5, random_state=0).fit(X[::2], y[::2])
    assert len(boosting.estimators_) == 5
    assert boosting.score(X[1::2], y[1::2]) > 0.7
    first, second = boosting.estimators_[:2]
    assert first.model_.row_weights is None  # all are 1/45
    wrong = first.predict(X[::2]) != y[::2]
    weights = second.model_.row_weights
    assert weights.mean() == pytest.approx(1.0)
    assert weights[wrong].min() > 1.0 > weights[~wrong].max()


def test_calibration(blobs, counts):
    X, y = blobs
    calibrated = CalibratedClassifierCV(clf_of(), cv=2, ensemble=False).fit(X, y, sample_weight=counts)
    expected = clf_of().fit(X, y, sample_weight=counts)
    inner = calibrated.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(inner.predict_proba(X), expected.predict_proba(X))
    assert calibrated.score(X, y) > 0.7


def test_the_scale_of_large_weights_does_not_matter(blobs):
    X, y = blobs
    plain, heavy = (clf_of().fit(X, y, sample_weight=np.full(len(X), weight)) for weight in (2.0, 1024.0))
    assert heavy.vote_.is_for_noise == plain.vote_.is_for_noise
    assert heavy.vote_.n_neighbors == 512 * plain.vote_.n_neighbors
    np.testing.assert_allclose(heavy.predict_proba(X + 0.1), plain.predict_proba(X + 0.1), rtol=1e-9)
    np.testing.assert_array_equal(
        heavy.kneighbors(X[:5], return_distance=False), plain.kneighbors(X[:5], return_distance=False)
    )
    for function in (lambda clf: suspicious_rows(clf).scores, lambda clf: clf.explain(X).relevances):
        np.testing.assert_allclose(function(heavy), function(plain), rtol=1e-6, atol=1e-9)
    n_rows = heavy.vote_.n_neighbors / 1024
    assert str(heavy.vote_).startswith(
        f"{heavy.vote_.n_neighbors} votes, those of about {n_rows:.0f} distinct rows"
    )


def test_rows_without_weights_after_light_ones_weigh_1(blobs):
    X, y = blobs
    parts = {}
    for name, later in (("none", None), ("ones", np.ones(len(X[1::2])))):
        clf = clf_of().partial_fit(X[::2], y[::2], sample_weight=np.full(len(X[::2]), 0.1))
        parts[name] = clf.partial_fit(X[1::2], y[1::2], sample_weight=later).model_.row_weights
    np.testing.assert_array_equal(parts["none"], parts["ones"])
    assert parts["none"].max() == pytest.approx(10 * parts["none"].min())


@pytest.mark.parametrize("n_rows", [82, 86, 90])
def test_equal_weights_are_no_weights(blobs, n_rows):
    X, y = blobs
    rows = np.random.default_rng(0).permutation(len(X))[:n_rows]
    light = clf_of().fit(X[rows], y[rows], sample_weight=np.full(n_rows, 0.1))
    assert light.model_.row_weights is None
    plain = clf_of().fit(X[rows], y[rows])
    np.testing.assert_array_equal(light.predict_proba(X), plain.predict_proba(X))


def test_weights_too_small_to_compute_with_raise(blobs):
    X, y = blobs
    weights = np.ones(len(X))
    weights[0] = 1e-300
    with pytest.raises(ValueError, match=r"must be 0, or between 1e-100 and 1e\+100; got 1e-300"):
        clf_of().fit(X, y, sample_weight=weights)


def test_only_rows_that_voted_are_listed(blobs):
    X, y = blobs
    weights = np.random.default_rng(1).choice([0.05, 0.1, 5.0, 9.0], len(X), p=[0.4, 0.3, 0.2, 0.1])
    explanation = clf_of().fit(X, y, sample_weight=weights).explain(X)
    voted = (explanation.vote_shares > 0).sum(axis=1)
    assert voted.min() < voted.max()
    for row, n_voters in zip(explanation.rows(), voted, strict=True):
        assert len(row.neighbors) == len(row.contributions) == n_voters
        assert row.vote_shares.min() > 0
        n_others = 0 if row.others is None else row.others.n_rows
        assert row.n_listed + n_others == n_voters


def test_the_number_of_neighbors_does_not_depend_on_that_of_the_queries():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
    clf = LANNClassifier(5, max_iter=0).fit(X, y, sample_weight=np.linspace(0.5, 1.5, 60))
    shapes = [clf.kneighbors(X[:n], return_distance=False).shape for n in (1, 2, 30)]
    assert [shape[0] for shape in shapes] == [1, 2, 30]
    assert len({shape[1] for shape in shapes}) == 1

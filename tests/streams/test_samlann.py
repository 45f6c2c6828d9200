"""SAMLANN: what is learned along a stream, and what stays as in SAMKNN."""

import pickle

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN
from lann.streams._memory import N_COMPRESSIONS, N_LONG
from lann.streams._metric import add_row, new_gradients
from lann.streams._samlann_kernels import (
    GUARD,
    N_VOTES,
    RECENT,
    age_weight,
    new_space,
    predict_one,
)
from lann.vote import share_loss
from tests.streams import metric_reference


def stream(n_rows, seed=0, *, gaps=0.0):
    """Return rows of which two of five features matter, in units that hide it; others after a drift."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    late = np.arange(n_rows) >= n_rows // 2
    y = (np.where(late, X[:, 2] - X[:, 0], X[:, 0] + X[:, 1]) > 0).astype(int)
    y[X[:, 1] > 1.2] = 2
    X = X * [1.0, 1.0, 1.0, 30.0, 30.0]
    X[rng.random(X.shape) < gaps] = np.nan
    return X, y


def small(**changes):
    return SAMLANN(**{"window_size": 200, "random_state": 0} | changes)


@pytest.fixture(scope="module", params=[0.0, 0.2], ids=["complete", "with gaps"])
def fitted(request):
    """Return a classifier after drifts and compressions, and further rows."""
    X, y = stream(900, gaps=request.param)
    clf = small().fit(X[:880], y[:880])
    assert clf.memories_.counters[N_COMPRESSIONS] > 0
    assert clf.n_drifts_ > 0
    return clf, X[880:], y[880:]


def test_it_learns_which_features_matter():
    X, y = stream(3000)
    accuracies = [
        (cls(random_state=0).test_then_train(X, y).argmax(axis=1) == y).mean() for cls in (SAMKNN, SAMLANN)
    ]
    assert accuracies[1] > accuracies[0] + 0.1
    log_weights = SAMLANN(random_state=0).fit(X, y).metric_.features[0, :, 0]
    assert log_weights[:3].min() > log_weights[3:].max()


def test_age_matters_where_the_stream_moves():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 2000)
    position = 3.0 * np.sin(np.arange(2000) / 40.0)
    X = (position + np.where(y, 0.4, -0.4) + 0.05 * rng.normal(size=2000))[:, None]
    clf = SAMLANN(random_state=0)
    accuracy = (clf.test_then_train(X, y).argmax(axis=1) == y)[200:].mean()
    assert accuracy > 0.9
    assert clf.metric_.age[0] > -2.0  # its start


def test_votes_equal_the_reference(fitted):
    clf, X, _ = fitted
    space = new_space(clf._learned, clf.limits_)
    for x in X:
        predict_one(clf._learned, clf.limits_, x, space)
        for number in range(1, N_VOTES):
            expected = metric_reference.vote(clf, x, number)
            np.testing.assert_allclose(space.found.probabilities[number], expected, rtol=1e-8)


def test_vote_zero_is_that_of_samknn():
    X, y = stream(900)
    clf, plain = small(), SAMKNN(window_size=200, random_state=0)
    space = None
    for start in range(0, 900, 100):
        rows = slice(start, start + 100)
        clf.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        plain.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        space = new_space(clf._learned, clf.limits_)
        predict_one(clf._learned, clf.limits_, X[0], space)
        np.testing.assert_array_equal(space.found.probabilities[0], plain.predict_proba(X[:1])[0])
    assert clf.drifts_ == plain.drifts_
    assert clf.long_term_size_ == plain.long_term_size_


def test_probabilities_are_the_mixture(fitted):
    clf, X, _ = fitted
    space = new_space(clf._learned, clf.limits_)
    predict_one(clf._learned, clf.limits_, X[0], space)
    votes, weights, hits = space.found.probabilities, clf.votes_.weights, clf.votes_.hits
    share, best = (1.0, 0) if hits[0] > hits[-1] + 0.03 else (0.5, hits[:-1].argmax())
    expected = share * votes[best] + (1 - share) * weights @ votes
    np.testing.assert_allclose(clf.predict_proba(X[:1])[0], expected, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(), 1.0)


def test_the_vote_of_samknn_decides_where_it_is_better(fitted):
    clf, X, _ = fitted
    clf = pickle.loads(pickle.dumps(clf))
    clf.votes_.hits[:] = 0.5
    clf.votes_.hits[0] = 0.54
    space = new_space(clf._learned, clf.limits_)
    for x in X:
        predict_one(clf._learned, clf.limits_, x, space)
        np.testing.assert_array_equal(space.mixture, space.found.probabilities[0])


def gradient_of(clf, x, label):
    """Return the gradients of one row's loss by the kernels."""
    learned, memories, metric = clf._learned, clf.memories_, clf.metric_
    space = new_space(learned, clf.limits_)
    predict_one(learned, clf.limits_, x, space)
    found, gradients = space.found, new_gradients(metric)
    n_found = found.n_found[RECENT]
    lengths = found.lengths[RECENT] + GUARD * metric.typical[0]
    share_loss(lengths, found.labels[RECENT], label, n_found, 3.0, 0.02, found.slopes)
    for i in range(n_found):
        column, slope = found.columns[RECENT, i], found.slopes[i]
        gradients.age[0] += 2.0 * slope * age_weight(metric) * found.ages[column]
        add_row(
            metric, x, memories.short_X[:, column], memories.short_extras[:, column],
            found.labels[RECENT, i], slope, gradients,
        )  # fmt: skip
    return gradients, found.columns[RECENT, :n_found]


def difference(clf, x, label, array, index, apply=lambda: None):
    """Return the derivative of the loss by one entry, by central differences."""
    step, before = 1e-6, array[index]
    losses = []
    for value in (before + step, before - step):
        array[index] = value
        apply()
        losses.append(metric_reference.loss(clf, x, label))
    array[index] = before
    apply()
    return (losses[0] - losses[1]) / (2 * step)


def test_gradients_equal_finite_differences(fitted):
    clf, X, y = fitted
    clf = pickle.loads(pickle.dumps(clf))
    metric = clf.metric_

    def apply():
        metric.slopes[:] = np.exp(metric.features[0, :, :1] + metric.features[0, :, 1:])
        metric.class_weights[:] = np.exp(metric.classes[0])

    apply()
    n_features = clf.n_features_in_
    weights = clf.memories_.short_extras[2 * n_features :]
    weights[:] = metric.class_weights[clf.memories_.short_labels].T * np.exp(
        clf.memories_.short_extras[n_features : 2 * n_features]
    )
    axes = clf.memories_.short_extras[:n_features]
    axes[:] = metric_reference.curve(metric, clf.memories_.short_X.T).T
    # The kernels transform the query themselves: the same curve up to a constant.
    metric_rows = metric_reference.curve(metric, X[:1])[0]
    space = new_space(clf._learned, clf.limits_)
    predict_one(clf._learned, clf.limits_, X[0], space)
    shift = np.nan_to_num(space.found.axes - metric_rows)
    axes += shift[:, None]
    for x, label in zip(X[:3], y[:3], strict=True):
        gradients, columns = gradient_of(clf, x, label)
        for index in np.ndindex(gradients.features.shape):
            expected = difference(clf, x, label, metric.features[0], index, apply)
            np.testing.assert_allclose(gradients.features[index], expected, rtol=1e-4, atol=1e-7)
        for index in np.ndindex(gradients.classes.shape):
            expected = difference(clf, x, label, metric.classes[0], index, apply)
            np.testing.assert_allclose(gradients.classes[index], expected, rtol=1e-4, atol=1e-7)
        expected = difference(clf, x, label, metric.age, 0)
        np.testing.assert_allclose(gradients.age[0], expected, rtol=1e-4, atol=1e-7)
        # `point` is that of the last row that was added.
        points = clf.memories_.short_extras[n_features : 2 * n_features]
        for feature in range(n_features):
            expected = difference(clf, x, label, points, (feature, columns[-1]))
            np.testing.assert_allclose(gradients.point[feature], expected, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("gaps", [0.0, 0.2])
def test_one_pass_equals_single_rows(gaps):
    X, y = stream(450, gaps=gaps)
    clf = small(window_size=120)
    one_pass = clf.test_then_train(X, y, classes=[0, 1, 2])
    single = small(window_size=120)
    for row in range(len(X)):
        if row:
            np.testing.assert_array_equal(single.predict_proba(X[row : row + 1])[0], one_pass[row])
        single.partial_fit(X[row : row + 1], y[row : row + 1], classes=[0, 1, 2])
    for mine, theirs in zip(clf._learned, single._learned, strict=True):
        assert pickle.dumps([a.tolist() for a in mine]) == pickle.dumps([a.tolist() for a in theirs])


def test_weights_travel_with_rows_and_through_compression():
    X, y = stream(900)
    clf = small().fit(X, y)
    n_long, n_features = int(clf.memories_.counters[N_LONG]), 5
    logs = clf.memories_.long_extras[n_features : 2 * n_features, :n_long]
    weights = clf.memories_.long_extras[2 * n_features :, :n_long]
    assert n_long > 0
    assert np.abs(logs).max() > 1e-3
    expected = clf.metric_.class_weights[clf.memories_.long_labels[:n_long]].T * np.exp(logs)
    np.testing.assert_allclose(weights, expected, rtol=1e-9)


def test_new_classes_keep_what_was_learned():
    X, y = stream(500)
    clf = small().fit(X, np.where(y == 0, 5, y + 5))
    before, weights = clf.predict_proba(X), clf.metric_.classes.copy()
    clf._add_classes(np.array([1]))
    assert clf.classes_.tolist() == [1, 5, 6, 7]
    np.testing.assert_allclose(clf.predict_proba(X), np.pad(before, ((0, 0), (1, 0))), rtol=1e-12)
    np.testing.assert_array_equal(clf.metric_.classes, np.pad(weights, ((0, 0), (1, 0), (0, 0))))
    probabilities = clf.test_then_train(X[:2] + 50.0, [1, 1])
    assert probabilities[0, 0] == 0
    assert probabilities[1].argmax() == 0


@pytest.mark.parametrize("seed", range(3))
def test_not_worse_than_samknn_where_nothing_can_be_learned(seed):
    rng = np.random.default_rng(seed)
    X = rng.uniform(size=(3000, 2))
    y = (np.floor(4 * X[:, 0]) + np.floor(4 * X[:, 1])).astype(int) % 2
    y[1500:] = 1 - y[1500:]
    errors = [
        (cls(random_state=0).test_then_train(X, y).argmax(axis=1) != y).mean() for cls in (SAMKNN, SAMLANN)
    ]
    assert errors[1] <= errors[0] + 0.005


def test_explanation_under_the_learned_metric():
    X, y = stream(1500)
    clf = SAMLANN(random_state=0).fit(X, y)
    explanation = clf.explain_one(X[0])
    np.testing.assert_array_equal(explanation.probabilities, clf.predict_proba(X[:1])[0])
    assert explanation.vote_accuracy > 0.7
    assert "under the learned metric" in explanation.sentence
    assert "of its squared distance is due to its age" in str(explanation)
    total = explanation.contributions.sum(axis=1) + explanation.age_contributions
    np.testing.assert_allclose(total, explanation.distances**2, rtol=1e-9)
    assert (np.diff(explanation.distances) >= 0).all()
    np.testing.assert_allclose(explanation.vote_shares.sum(), 1.0)
    assert explanation.dependence_now[:3].sum() > 0.8
    for age, values in zip(explanation.ages.astype(int), explanation.neighbors, strict=True):
        np.testing.assert_array_equal(values, X[len(X) - age])

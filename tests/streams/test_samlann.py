"""SAMLANN: what is learned along a stream, and what stays as in SAMKNN."""

import pickle

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN
from lann.streams._memory import AXES, N_COMPRESSIONS, N_LONG, N_VOTES, POINTS, STOP, WEIGHTS
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
    assert clf.n_resets_ > 0
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


def vote_of(clf, X, number):
    """Return the probabilities by one vote: all of the mixture, and the best."""
    clf = pickle.loads(pickle.dumps(clf))
    clf.metric_.vote_weights[:] = clf.metric_.vote_hits[:-1] = np.arange(N_VOTES) == number
    clf.metric_.vote_hits[-1] = number > 0
    return clf.predict_proba(X)


def test_votes_equal_the_reference(fitted):
    clf, X, _ = fitted
    for number in range(1, N_VOTES):
        expected = [metric_reference.vote(clf, x, number) for x in X]
        np.testing.assert_allclose(vote_of(clf, X, number), expected, rtol=1e-8)


def test_vote_zero_is_that_of_samknn():
    X, y = stream(900)
    clf, plain = small(), SAMKNN(window_size=200, random_state=0)
    for start in range(0, 900, 100):
        rows = slice(start, start + 100)
        clf.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        plain.partial_fit(X[rows], y[rows], classes=[0, 1, 2])
        np.testing.assert_array_equal(vote_of(clf, X[:1], 0), plain.predict_proba(X[:1]))
    assert clf.resets_ == plain.resets_
    assert clf.long_term_size_ == plain.long_term_size_


def test_probabilities_are_the_mixture(fitted):
    clf, X, _ = fitted
    votes = np.array([vote_of(clf, X[:1], number)[0] for number in range(N_VOTES)])
    weights, hits = clf.metric_.vote_weights, clf.metric_.vote_hits
    share, best = (1.0, 0) if hits[0] > hits[-1] + 0.03 else (0.5, hits[:-1].argmax())
    expected = share * votes[best] + (1 - share) * weights @ votes
    np.testing.assert_allclose(clf.predict_proba(X[:1])[0], expected, rtol=1e-12)
    np.testing.assert_allclose(weights.sum(), 1.0)


def test_the_vote_of_samknn_decides_where_it_is_better(fitted):
    clf, X, _ = fitted
    clf = pickle.loads(pickle.dumps(clf))
    clf.metric_.vote_hits[:] = 0.5
    clf.metric_.vote_hits[0] = 0.54
    np.testing.assert_array_equal(clf.predict_proba(X), vote_of(clf, X, 0))


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


def test_steps_follow_finite_differences(fitted):
    """The first moments of Adam, and the point weights, change by the gradients of the loss of a row.

    The loss has kinks where the last of the neighbors changes.
    """
    clf, X, y = fitted
    clf = pickle.loads(pickle.dumps(clf))
    metric, memories = clf.metric_, clf.memories_

    def apply():
        metric.slopes[:] = np.exp(metric.features[0, :, :1] + metric.features[0, :, 1:])
        metric.class_weights[:] = np.exp(metric.classes[0])

    apply()
    # The stored rows in the present metric.
    weights = metric.class_weights[memories.short_labels].T * np.exp(memories.short_extras[POINTS])
    memories.short_extras[WEIGHTS] = weights
    here = np.empty((1, 5))
    clf._stream.transform(X[:1], here)
    # The reference has another zero.
    shift = np.nan_to_num(here[0] - metric_reference.curve(metric, X[:1])[0])
    memories.short_extras[AXES] = metric_reference.curve(metric, memories.short_X.T).T + shift[:, None]
    metric.schedule[1] = 10**6  # what is learned is not applied
    for x, label in zip(X[:3], y[:3], strict=True):
        # The typical distance stays as it is.
        metric.typical[0] = np.sort(metric_reference.distances(clf, x, metric_reference.TIMELESS)[0])[4]
        learned = pickle.loads(pickle.dumps(clf)).partial_fit(x[None], [label])
        oldest = max(memories.counters[STOP] - clf.limits_.total, 0)
        assert learned.memories_.counters[STOP] == memories.counters[STOP] + 1  # no row was moved
        for name, free in (("features", np.arange(9) > 0), ("classes", np.ones(5, bool)), ("age", False)):
            before, after = getattr(metric, name), getattr(learned.metric_, name)
            gradients = (after[1] - 0.9 * before[1]) / 0.1 - np.where(free, 0.01 * before[0], 0.0)
            for index in np.ndindex(gradients.shape):
                expected = difference(
                    clf, x, label, before[0:1] if name == "age" else before[0], index or 0, apply
                )
                np.testing.assert_allclose(gradients[index], expected, rtol=1e-4, atol=1e-6)
        logs = memories.short_extras[POINTS]
        steps = learned.memories_.short_extras[POINTS] - 0.975 * logs
        for column in oldest + metric_reference.recent_neighbors(clf, x)[::7]:
            for feature in range(5):
                expected = -0.5 * difference(clf, x, label, logs, (feature, column))
                np.testing.assert_allclose(steps[feature, column], expected, rtol=1e-4, atol=1e-6)


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
    for mine, theirs in ((clf.memories_, single.memories_), (clf.metric_, single.metric_)):
        for name in vars(mine):
            np.testing.assert_array_equal(getattr(mine, name), getattr(theirs, name), err_msg=name)


def test_weights_travel_with_rows_and_through_compression():
    X, y = stream(900)
    clf = small().fit(X, y)
    n_long = int(clf.memories_.counters[N_LONG])
    logs = clf.memories_.long_extras[POINTS][:, :n_long]
    weights = clf.memories_.long_extras[WEIGHTS][:, :n_long]
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

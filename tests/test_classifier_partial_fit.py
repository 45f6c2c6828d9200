"""`partial_fit`: rows that are added to a fitted model."""

import numpy as np
import pytest

from lann import LANNClassifier


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 4} | options))


def test_the_first_call_learns_like_fit(wine):
    X, y = wine
    one, other = clf_of().fit(X, y), clf_of().partial_fit(X, y)
    np.testing.assert_array_equal(one.feature_weights_, other.feature_weights_)
    assert other.n_iter_ == 4


@pytest.mark.parametrize("options", [{}, {"levels": ("point",)}, {"levels": ("curves",)}])
def test_batches_add_up(wine, options):
    X, y = wine
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    clf = clf_of(**options).partial_fit(X[:80], y[:80], classes=[0, 1, 2])
    early = clf.score(X[130:], y[130:])
    curves = clf.curves_
    for start in range(80, 130, 10):
        assert clf.partial_fit(X[start : start + 10], y[start : start + 10]) is clf
        assert clf.feature_weights_.shape == (start + 10, 13)
    assert clf.curves_ is curves
    assert np.all(np.isfinite(clf.feature_weights_))
    assert clf.score(X[130:], y[130:]) >= early - 0.05
    assert clf.kneighbors(X[100:101], 1)[1][0, 0] == 100  # the row that was added as the hundredth


def test_rows_can_be_added_after_fit(wine):
    X, y = wine
    clf = clf_of().fit(X[::2], y[::2]).partial_fit(X[1::2], y[1::2])
    assert len(clf.feature_weights_) == 178
    assert clf.score(X, y) > 0.95


def test_a_copy_of_a_training_row_gets_its_metric(wine):
    X, y = wine
    clf = clf_of(max_iter=7).fit(X, y)
    before = clf.feature_weights_.copy()
    clf.partial_fit(X[:3], y[:3])
    # The units of feature weights follow the standard deviation of all rows, which has changed a little.
    copies, originals = clf.feature_weights_[-3:], before[:3]
    ratio = copies / originals
    expected = (np.concatenate([X, X[:3]]).std(axis=0) / X.std(axis=0)) ** 2
    np.testing.assert_allclose(ratio / expected, 1, rtol=0.1)


def test_a_class_may_follow_later(iris):
    X, y = iris
    clf = clf_of().partial_fit(X[:100], y[:100], classes=[0, 1, 2])
    np.testing.assert_array_equal(clf.classes_, [0, 1, 2])
    assert clf.predict_proba(X).shape == (150, 3)
    assert np.all(np.isnan(clf.class_feature_weights_[2]))
    assert not np.isnan(clf.class_feature_weights_[:2]).any()
    clf.partial_fit(X[100:], y[100:])
    assert clf.score(X, y) > 0.9
    assert not np.isnan(clf.class_feature_weights_).any()


def test_a_first_batch_of_one_class(iris):
    X, y = iris
    clf = clf_of().partial_fit(X[:30], y[:30], classes=[0, 1, 2])
    assert clf.n_iter_ == 0
    assert set(clf.predict(X)) == {0}
    clf.partial_fit(X[30:], y[30:])
    assert clf.n_iter_ == 4
    assert len(clf.feature_weights_) == 150
    assert clf.score(X, y) > 0.9


def test_labels_that_are_not_in_classes(iris):
    X, y = iris
    clf = clf_of().partial_fit(X[:100], y[:100])
    with pytest.raises(ValueError, match=r"labels that are not among the classes .*2.*Give all classes"):
        clf.partial_fit(X[100:], y[100:])
    assert len(clf.feature_weights_) == 100
    assert clf.score(X[:100], y[:100]) > 0.9


def test_classes_that_change(iris):
    X, y = iris
    clf = clf_of().partial_fit(X, y, classes=[0, 1, 2])
    clf.partial_fit(X[:3], y[:3], classes=[2, 1, 0])  # the same ones
    with pytest.raises(ValueError, match="differ from those of the first call"):
        clf.partial_fit(X[:3], y[:3], classes=[0, 1, 2, 3])
    assert len(clf.feature_weights_) == 153


def test_learning_starts_with_enough_rows(wine):
    X, y = wine
    order = np.random.default_rng(0).permutation(len(X))
    clf = LANNClassifier(random_state=0, max_iter=3)
    clf.partial_fit(X[order[:10]], y[order[:10]], classes=[0, 1, 2])
    assert clf.n_iter_ == 0
    assert clf.curves_.is_identity
    clf.partial_fit(X[order[10:60]], y[order[10:60]])
    assert clf.n_iter_ == 3
    assert not clf.curves_.is_identity


def test_the_vote_stays_unless_it_is_given(wine):
    X, y = wine
    clf = LANNClassifier(max_iter=2, random_state=0).partial_fit(X[::2], y[::2])
    chosen = clf.vote_
    assert clf.partial_fit(X[1::4], y[1::4]).vote_ is chosen
    clf.set_params(n_neighbors=3, power=1.0).partial_fit(X[3::4], y[3::4])
    assert (clf.n_neighbors_, clf.power_, clf.vote_.floor) == (3, 1.0, chosen.floor)
    assert clf.model_.n_neighbors == 3

import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.plot._rows import names_of_classes, rows_of, training_points


def test_training_points_are_the_default(clf, flowers):
    X, y = flowers
    rows = rows_of(clf, None, None, at_most=None)
    np.testing.assert_array_equal(rows.X, X)
    np.testing.assert_array_equal(rows.labels, y)
    assert rows.feature_names.tolist() == X.columns.tolist()


def test_a_sample_has_every_class(clf, flowers):
    rows = rows_of(clf, None, None, at_most=9)
    assert np.bincount(rows.labels).tolist() == [3, 3, 3]
    np.testing.assert_array_equal(rows.X, flowers[0].iloc[rows.places])


def test_labels_are_predicted_where_none_are_given(clf, flowers):
    X, _ = flowers
    np.testing.assert_array_equal(rows_of(clf, X, None, at_most=None).labels, clf.predict(X))


def test_a_pipeline_is_asked_through_its_steps(flowers):
    X, y = flowers
    pipe = make_pipeline(StandardScaler(), LANNClassifier(max_iter=2, random_state=0)).fit(X, y)
    rows = rows_of(pipe, X[:30], y[:30], at_most=None)
    np.testing.assert_allclose(rows.X, pipe[:-1].transform(X[:30]))
    np.testing.assert_array_equal(rows.as_given, X[:30])
    assert rows.feature_names.tolist() == X.columns.tolist()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(rows.explain().predictions, pipe.predict(X[:30]))


def test_names_are_not_missed(clf):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        rows_of(clf, None, None, at_most=5).explain()


def test_prototypes_stand_for_training_points():
    class Prototypes:
        classes_ = np.array(["a", "b"])
        prototypes_ = np.array([[0.0], [1.0], [2.0]])
        prototype_labels_ = np.array(["b", "a", "b"])

    points, labels = training_points(Prototypes())
    assert points.shape == (3, 1)
    assert labels.tolist() == [1, 0, 1]


def test_weights_add_up_to_one(clf, weighing):
    for model in (clf, weighing):
        weights, used = rows_of(model, None, None, at_most=20).relevances("weights", of_training=True)
        assert used == "weights"
        np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert rows_of(weighing, None, None, at_most=20).relevances("auto", of_training=True)[1] == "weights"
    assert rows_of(clf, None, None, at_most=20).relevances("auto", of_training=True)[1] == "votes"


def test_what_is_refused(clf, weighing, flowers):
    X, y = flowers
    with pytest.raises(ValueError, match="y was given without X"):
        rows_of(clf, None, y, at_most=None)
    with pytest.raises(ValueError, match="X must have 4 columns"):
        rows_of(clf, X.to_numpy()[:, :3], None, at_most=None)
    with pytest.raises(ValueError, match="150 rows, and y 2"):
        rows_of(clf, X, y[:2], at_most=None)
    with pytest.raises(ValueError, match="label 7; known are"):
        rows_of(clf, X, np.full(150, 7), at_most=None)
    with pytest.raises(ValueError, match="does not tell what its votes hang on"):
        rows_of(weighing, None, None, at_most=5).relevances("votes", of_training=True)
    with pytest.raises(ValueError, match="has no `explain`"):
        rows_of(KNeighborsClassifier().fit(X.to_numpy(), y), X.to_numpy(), y, at_most=None).explain()
    with pytest.raises(ValueError, match="must name the 3 classes; got 2"):
        names_of_classes(clf.classes_, ["a", "b"])

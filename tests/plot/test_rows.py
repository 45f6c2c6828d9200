import warnings

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.plot._rows import check_class_names, kept_rows, select_rows


def test_training_rows_are_the_default(clf, iris_frame):
    X, y = iris_frame
    rows = select_rows(clf, None, None)
    np.testing.assert_array_equal(rows.X, X)
    np.testing.assert_array_equal(rows.labels, y)
    assert rows.feature_names.tolist() == X.columns.tolist()


def test_sample_is_stratified(clf, iris_frame):
    rows = select_rows(clf, None, None, max_rows=9)
    assert np.bincount(rows.labels).tolist() == [3, 3, 3]
    np.testing.assert_array_equal(rows.X, iris_frame[0].iloc[rows.indices])


def test_rows_are_described_with_their_number(clf, iris_frame):
    assert select_rows(clf, None, None).describe("Iris") == "Iris: 150 training rows"
    assert select_rows(clf, None, None, max_rows=9).describe() == "9 of 150 training rows"
    assert select_rows(clf, iris_frame[0][:1], None).describe() == "1 row"


def test_labels_are_predicted_if_not_given(clf, iris_frame):
    X, _ = iris_frame
    np.testing.assert_array_equal(select_rows(clf, X, None).labels, clf.predict(X))


def test_pipeline_transforms_the_rows(iris_frame):
    X, y = iris_frame
    pipe = make_pipeline(StandardScaler(), LANNClassifier(max_iter=2, random_state=0)).fit(X, y)
    rows = select_rows(pipe, X[:30], y[:30])
    np.testing.assert_allclose(rows.X, pipe[:-1].transform(X[:30]))
    np.testing.assert_array_equal(rows.X_given, X[:30])
    assert rows.feature_names.tolist() == X.columns.tolist()
    assert rows.axis_labels[0] == "sepal length, scaled"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(rows.explain().predictions, pipe.predict(X[:30]))


def test_explaining_training_rows_does_not_warn_about_feature_names(clf):
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        assert len(select_rows(clf, None, None, max_rows=5).explain()) == 5


def test_prototypes_replace_training_rows():
    class Prototypes:
        classes_ = np.array(["a", "b"])
        prototypes_ = np.array([[0.0], [1.0], [2.0]])
        prototype_labels_ = np.array(["b", "a", "b"])

    X, labels = kept_rows(Prototypes())
    assert X.shape == (3, 1)
    assert labels.tolist() == [1, 0, 1]


def test_invalid_rows_raise(clf, iris_frame):
    X, y = iris_frame
    with pytest.raises(ValueError, match="y was given without X"):
        select_rows(clf, None, y)
    with pytest.raises(ValueError, match=r"X must have 4 columns; got an array of shape \(150, 3\)"):
        select_rows(clf, X.to_numpy()[:, :3], None)
    with pytest.raises(ValueError, match="same number of rows; got 150 and 2"):
        select_rows(clf, X, y[:2])
    with pytest.raises(ValueError, match=r"labels of the model, \[0, 1, 2\]; got 7"):
        select_rows(clf, X, np.full(150, 7))


def test_model_without_explanations_or_training_rows_raises(iris_frame):
    X, y = iris_frame[0].to_numpy(), iris_frame[1].to_numpy()
    knn = KNeighborsClassifier().fit(X, y)
    with pytest.raises(ValueError, match="needs a model with `explain`; got KNeighborsClassifier"):
        select_rows(knn, X, y).explain()
    with pytest.raises(ValueError, match="KNeighborsClassifier does not keep its training rows; pass X"):
        select_rows(knn, None, None)


def test_unexpected_number_of_class_names_raises():
    with pytest.raises(ValueError, match="must have 3 names, one per class; got 2"):
        check_class_names(np.arange(3), ["a", "b"])

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.preprocessing import scale
from sklearn.utils.estimator_checks import check_estimator

from lann.embedding import DiscriminantPlane


def test_with_three_classes_it_is_lda(wine):
    X, y = scale(wine[0]), wine[1]
    expected = LinearDiscriminantAnalysis(n_components=2).fit(X, y).transform(X)
    np.testing.assert_allclose(DiscriminantPlane().fit(X, y).transform(X), expected, atol=1e-10)


def test_with_two_classes_the_second_direction_is_across_the_first(wine):
    X, y = scale(wine[0]), wine[1] > 0
    plane = DiscriminantPlane().fit(X, y)
    coordinates = plane.transform(X)
    expected = LinearDiscriminantAnalysis().fit(X, y).transform(X)[:, 0]
    np.testing.assert_allclose(coordinates[:, 0], expected, atol=1e-10)
    first, second = plane.components_
    assert abs(first @ second) < 1e-10
    within = sum(
        ((coordinates[y == c] - coordinates[y == c].mean(axis=0)) ** 2).sum(axis=0) for c in (False, True)
    )
    # Earlier versions of scikit-learn divide by n − 2 where later ones divide by n.
    assert np.isclose(within[0] / np.array([len(X), len(X) - 2]), 1).any()
    np.testing.assert_allclose(np.sqrt(within[1] / len(X)), 1)
    # Nothing across the first varies more: not the features, and no random direction.
    unit = first / np.linalg.norm(first)
    rng = np.random.default_rng(0)
    ways = np.vstack([np.eye(X.shape[1]), rng.normal(size=(200, X.shape[1]))])
    ways -= np.outer(ways @ unit, unit)
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    most = (X @ (second / np.linalg.norm(second))).var()
    assert (X @ ways.T).var(axis=0).max() <= most + 1e-10


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("constants", [[0.0, 0.0], [2.0, 0.1]])
def test_constant_features_leave_nothing_across(constants):
    along = np.arange(20.0)
    X = np.column_stack([along, *(np.full(20, constant) for constant in constants)])
    plane = DiscriminantPlane().fit(X, along > 9)
    coordinates = plane.transform(X)
    assert np.ptp(coordinates[:, 0]) > 0
    assert not coordinates[:, 1].any()
    assert not plane.components_[1].any()


def test_class_means_on_a_line_leave_one_direction_too():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 2)) * [0.1, 1.0]
    y = np.repeat([0, 1, 2], 30)
    X[:, 0] += y
    coordinates = DiscriminantPlane().fit(X, y).transform(X)
    assert coordinates[:, 1].std() > 0


def test_scikit_learn_accepts_it():
    results = check_estimator(DiscriminantPlane())
    assert all(result["status"] in ("passed", "skipped") for result in results)

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.feature_selection import f_classif
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from lann.datasets import make_artificial_classification
from lann.datasets._artificial_classification import PAPER_SEED, read_artificial_classification


@pytest.mark.parametrize("shuffle", [False, True])
def test_values_are_those_of_make_classification(shuffle):
    X, y = make_artificial_classification(
        300, 9, n_informative=3, n_redundant=1, class_sep=1.5, shuffle=shuffle, random_state=7
    )
    expected_X, expected_y = make_classification(
        300, 9, n_informative=3, n_redundant=1, class_sep=1.5, shuffle=shuffle, random_state=7
    )
    np.testing.assert_array_equal(X, expected_X)
    np.testing.assert_array_equal(y, expected_y)


def test_random_state_determines_the_data():
    first, again, other = (make_artificial_classification(50, random_state=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_random_state_instance_gives_new_data_on_every_call():
    rng = np.random.RandomState(0)
    first, second = (make_artificial_classification(50, random_state=rng)[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_unshuffled_columns_are_ordered_by_role():
    X, y, roles = make_artificial_classification(
        100, 8, n_informative=3, n_redundant=2, shuffle=False, random_state=0, return_roles=True
    )
    assert X.shape == (100, 8)
    assert y.shape == (100,)
    assert roles.informative.tolist() == [0, 1, 2]
    assert roles.redundant.tolist() == [3, 4]
    assert roles.noise.tolist() == [5, 6, 7]


def test_redundant_columns_are_linear_combinations_of_the_informative_ones():
    X, _, roles = make_artificial_classification(500, random_state=1, return_roles=True)
    assert sorted(np.concatenate(roles)) == list(range(20))

    def residual_variance(columns):
        design = np.column_stack([X[:, roles.informative], np.ones(len(X))])
        residual = X[:, columns] - design @ np.linalg.lstsq(design, X[:, columns], rcond=None)[0]
        return (residual**2).mean(axis=0)

    assert residual_variance(roles.redundant).max() < 1e-20
    assert residual_variance(roles.noise).min() > 0.5


def test_noise_columns_do_not_predict_the_class():
    X, y, roles = make_artificial_classification(1000, random_state=1, return_roles=True)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    assert cross_val_score(tree, X[:, roles.informative], y).mean() > 0.85
    assert cross_val_score(tree, X[:, roles.noise], y).mean() < 0.6


def test_data_set_of_the_paper_has_its_size_and_roles():
    table = read_artificial_classification()
    assert table.data.shape == (2000, 20)
    assert set(table.target) == {0, 1}
    assert len(table.feature_names) == 20
    roles = table.extra["roles"]
    scores = f_classif(table.data, table.target)[0]
    strongest = np.argsort(scores)[-2:]
    assert set(strongest) <= {*roles.informative, *roles.redundant}
    assert str(roles.informative.tolist()) in table.description


def test_data_set_of_the_paper_gives_the_reported_accuracies():
    X, y = make_artificial_classification(random_state=PAPER_SEED)
    splits = StratifiedShuffleSplit(10, train_size=0.25, test_size=0.75, random_state=0)
    for classifier, accuracy in ((KNeighborsClassifier(5), 0.950), (SVC(C=10), 0.980)):
        pipeline = make_pipeline(StandardScaler(), classifier)
        assert cross_val_score(pipeline, X, y, cv=splits).mean() == pytest.approx(accuracy, abs=0.01)


@pytest.mark.parametrize("options", [{"n_samples": 0}, {"n_features": 3}, {"class_sep": -1}, {"flip_y": 2}])
def test_invalid_parameters_raise(options):
    with pytest.raises(ValueError, match="must"):
        make_artificial_classification(**options)

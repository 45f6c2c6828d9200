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
from lann.datasets.artificial_classification import PAPER_SEED, read


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


def test_the_seed_decides():
    first, again, other = (make_artificial_classification(50, random_state=seed)[0] for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_generator_is_advanced():
    rng = np.random.RandomState(0)
    first, second = (make_artificial_classification(50, random_state=rng)[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_unshuffled_columns_come_by_role():
    X, y, roles = make_artificial_classification(
        100, 8, n_informative=3, n_redundant=2, shuffle=False, random_state=0, return_roles=True
    )
    assert X.shape == (100, 8)
    assert y.shape == (100,)
    assert roles.informative.tolist() == [0, 1, 2]
    assert roles.redundant.tolist() == [3, 4]
    assert roles.noise.tolist() == [5, 6, 7]


@pytest.mark.parametrize("seed", range(3))
def test_the_redundant_columns_are_combinations_of_the_informative(seed):
    X, _, roles = make_artificial_classification(500, random_state=seed, return_roles=True)
    assert sorted(np.concatenate(roles)) == list(range(20))

    def left_unexplained(columns):
        design = np.column_stack([X[:, roles.informative], np.ones(len(X))])
        residual = X[:, columns] - design @ np.linalg.lstsq(design, X[:, columns], rcond=None)[0]
        return (residual**2).mean(axis=0)

    assert left_unexplained(roles.redundant).max() < 1e-20
    assert left_unexplained(roles.noise).min() > 0.5


@pytest.mark.parametrize("seed", range(3))
def test_without_the_columns_that_matter_nothing_can_be_learned(seed):
    X, y, roles = make_artificial_classification(1000, random_state=seed, return_roles=True)
    tree = DecisionTreeClassifier(max_depth=5, random_state=0)
    assert cross_val_score(tree, X[:, roles.informative], y).mean() > 0.85
    assert cross_val_score(tree, X[:, roles.noise], y).mean() < 0.6


def test_the_papers_set_has_its_size_and_roles():
    table = read()
    assert table.data.shape == (2000, 20)
    assert set(table.target) == {0, 1}
    assert len(table.feature_names) == 20
    roles = table.extra["roles"]
    scores = f_classif(table.data, table.target)[0]
    strongest = np.argsort(scores)[-2:]
    assert set(strongest) <= {*roles.informative, *roles.redundant}
    assert str(roles.informative.tolist()) in table.description


def test_the_papers_set_gives_the_accuracies_reported_for_it():
    X, y = make_artificial_classification(random_state=PAPER_SEED)
    splits = StratifiedShuffleSplit(10, train_size=0.25, test_size=0.75, random_state=0)
    for classifier, accuracy in ((KNeighborsClassifier(5), 0.950), (SVC(C=10), 0.980)):
        pipeline = make_pipeline(StandardScaler(), classifier)
        assert cross_val_score(pipeline, X, y, cv=splits).mean() == pytest.approx(accuracy, abs=0.01)


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"n_features": 3}, {"class_sep": -1}, {"flip_y": 2}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match="must"):
        make_artificial_classification(**wrong)

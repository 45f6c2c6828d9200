import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

from benchmarks.mixed.data import load_mixed_sets
from benchmarks.mixed.measure import measure_split, roc_auc

Y = np.array([0, 1, 2, 2, 1, 0])


def test_with_two_classes_it_is_the_area_of_the_second():
    P = np.array([0.1, 0.9, 0.4, 0.6, 0.3, 0.2])
    y = Y > 0
    assert roc_auc(y, np.column_stack([1 - P, P]), np.array([False, True])) == roc_auc_score(y, P)


def test_with_more_classes_it_is_the_mean_of_one_against_the_rest():
    P = np.random.default_rng(0).dirichlet(np.ones(3), 6)
    expected = np.mean([roc_auc_score(label == Y, P[:, label]) for label in range(3)])
    assert roc_auc(Y, P, np.arange(3)) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["titanic", "eucalyptus"])
def test_a_measurement_has_the_scores_of_a_table(folder, name):
    (data,), _ = load_mixed_sets([name])
    (split,) = data.splits(0, 1)
    values = measure_split(HistGradientBoostingClassifier(categorical_features="from_dtype"), data, split, 1)
    assert values["accuracy"] > 0.5
    assert 0.7 < values["roc_auc"] <= 1
    assert values["errors"] == {}
    assert values["n_test"] == 75


class WrongSum(HistGradientBoostingClassifier):
    def predict_proba(self, X):
        return super().predict_proba(X) * 0.9


def test_an_area_that_cannot_be_computed_is_reported(folder):
    (data,), _ = load_mixed_sets(["eucalyptus"])
    values = measure_split(WrongSum(categorical_features="from_dtype"), data, data.splits(0, 1)[0], 1)
    assert values["roc_auc"] is None
    assert values["errors"]["roc_auc"].startswith("ValueError: ")
    assert values["accuracy"] > 0.5

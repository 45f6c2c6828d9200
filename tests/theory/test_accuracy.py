"""Learning pays: at least as accurate as the neighbors it starts from, on data that nobody tuned here."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.model_selection import StratifiedShuffleSplit, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.baselines import PublishedLANN

SETS = {"iris": load_iris, "wine": load_wine, "breast cancer": load_breast_cancer, "digits": load_digits}


@pytest.fixture(scope="module")
def scores():
    """Mean accuracy over three splits, trained on a quarter: {set: (LANN, kNN)}."""
    splits = StratifiedShuffleSplit(3, train_size=0.25, test_size=0.75, random_state=0)
    models = (LANNClassifier(random_state=0), KNeighborsClassifier(5, weights="distance"))
    return {
        name: [
            cross_val_score(make_pipeline(StandardScaler(), model), *load(return_X_y=True), cv=splits).mean()
            for model in models
        ]
        for name, load in SETS.items()
    }


def test_the_mean_is_at_least_that_of_plain_neighbors(scores):
    lann, knn = np.mean(list(scores.values()), axis=0)
    assert lann >= knn


@pytest.mark.parametrize("name", SETS)
def test_no_set_is_much_worse(scores, name):
    lann, knn = scores[name]
    assert lann >= knn - 0.01


def test_the_published_algorithm_is_at_least_as_good_on_digits():
    X, y = load_digits(return_X_y=True)
    splits = StratifiedShuffleSplit(1, train_size=0.25, test_size=0.75, random_state=0)
    published, plain = (
        cross_val_score(make_pipeline(StandardScaler(), model), X, y, cv=splits).mean()
        for model in (
            PublishedLANN(max_iter=3, random_state=0),
            PublishedLANN(max_iter=0),
        )
    )
    assert published >= plain - 0.01

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier

from benchmarks.explanations import model_agnostic


@pytest.fixture
def forest(task):
    return RandomForestClassifier(10, random_state=0).fit(task.X, task.y)


@pytest.fixture
def knn(task):
    return KNeighborsClassifier(5).fit(task.X, task.y)


@pytest.mark.parametrize("name", ["tree_shap", "kernel_shap", "lime"])
def test_the_relevant_feature_is_ranked_first(name, request, task):
    pytest.importorskip(name.split("_")[-1])
    model = request.getfixturevalue("forest" if name == "tree_shap" else "knn")
    relevances = getattr(model_agnostic, name)(model, task)(task.X_test[:5])
    assert relevances.shape == (5, 5)
    assert (relevances >= 0).all()
    assert relevances.mean(axis=0).argmax() == 1


def test_kernel_shap_restores_the_global_generator(knn, task):
    pytest.importorskip("shap")
    explain = model_agnostic.kernel_shap(knn, task)
    np.random.seed(7)  # noqa: NPY002
    expected = np.random.random()  # noqa: NPY002
    np.random.seed(7)  # noqa: NPY002
    first = explain(task.X_test[:2])
    assert np.random.random() == expected  # noqa: NPY002
    np.testing.assert_array_equal(explain(task.X_test[:2]), first)


def test_permutation_importance_is_the_same_for_every_row(forest, task):
    relevances = model_agnostic.permutation_importance(forest, task)(task.X_test)
    assert relevances.shape == task.X_test.shape
    assert (relevances == relevances[0]).all()
    assert relevances[0].argmax() == 1
    assert (relevances >= 0).all()

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

from benchmarks.common.measure import Task
from benchmarks.reject.measure import errors_gone, measure_reject, threshold_area
from benchmarks.reject.strangers import OtherSet
from lann.reject import RejectOption, aurc


@pytest.fixture
def task():
    X, y = load_iris(return_X_y=True)
    X = scale(X) + 0.3 * np.random.default_rng(0).normal(size=X.shape)
    return Task(X[::2], y[::2], X[1::2], y[1::2])


def test_errors_among_the_tenth_of_lowest_certainty():
    wrong = np.zeros(100, bool)
    wrong[[0, 5, 9, 10, 50]] = True
    assert errors_gone(wrong, np.arange(100.0)) == pytest.approx(0.6)
    # Ties that reach beyond the tenth are not rejected.
    assert errors_gone(wrong, np.maximum(np.arange(100.0), 20)) == 0.0
    assert errors_gone(np.zeros(9, bool), np.arange(9.0)) == 1.0


def test_all_scores_are_measured(task):
    others = [OtherSet("other", 50 + np.random.default_rng(1).normal(size=(30, 2)))]
    values = measure_reject(LogisticRegression(), task, (np.zeros(4), np.ones(4)), others, 0)
    fitted = LogisticRegression().fit(task.X_train, task.y_train)
    assert values["error"] == pytest.approx(1 - fitted.score(task.X_test, task.y_test))
    probabilities = fitted.predict_proba(task.X_test)
    expected = aurc(task.y_test, probabilities.argmax(axis=1), probabilities.max(axis=1))
    assert values["aurc_probability"] == pytest.approx(expected)
    assert values["far_other_5"] == values["far_all_outside_5"] == 1.0
    assert values["alarms_1"] <= values["alarms_5"] < 0.3
    assert values["far_permuted_1"] <= values["far_permuted_5"]
    assert 0 <= values["error_accepted"] <= values["error"]


def test_area_of_one_threshold_is_that_of_the_curve(task):
    reject = RejectOption(
        LogisticRegression(), certainty="probability", novelty_share=0, cv=3, random_state=0
    )
    reject.fit(task.X_train, task.y_train)
    wrong = reject.classes_[reject.predict_proba(task.X_test).argmax(axis=1)] != task.y_test
    certainties = reject.certainties(task.X_test)
    risks = []
    for coverage in np.linspace(0.5, 1.0, 26):
        accepted = certainties >= np.quantile(certainties, 1 - coverage)
        risks.append(wrong[accepted].mean())
    assert threshold_area(reject, task.X_test, task.y_test) == pytest.approx(np.mean(risks), abs=0.02)

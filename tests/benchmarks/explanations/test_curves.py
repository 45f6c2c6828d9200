import numpy as np
import pytest

from benchmarks.explanations.curves import (
    AREAS,
    KERNEL,
    RANDOM,
    RELEVANCES,
    SUPPORT,
    curve_areas,
    score_curves,
)
from lann import LANNClassifier


def step_by_step(predict_proba, query, order, donor):
    """Replace one feature after another, and return the area by the trapezoidal rule."""
    predicted, changed = predict_proba(query[None])[0].argmax(), query.copy()
    curve = [predict_proba(changed[None])[0, predicted]]
    for feature in order:
        changed[feature] = donor[feature]
        curve.append(predict_proba(changed[None])[0, predicted])
    return np.trapezoid(curve, dx=1 / len(order)), predicted


def test_areas_equal_those_of_single_steps(task):
    model = LANNClassifier(max_iter=2, random_state=0).fit(task.X, task.y)
    rng = np.random.default_rng(0)
    queries, donors = task.X_test[:3], task.X[rng.integers(200, size=(3, 2))]
    order = rng.random(queries.shape).argsort(axis=1)
    deletion, insertion = curve_areas(model.predict_proba, queries, order, donors)
    expected = [
        np.mean([step_by_step(model.predict_proba, q, o, donor)[0] for donor in others])
        for q, o, others in zip(queries, order, donors, strict=True)
    ]
    np.testing.assert_allclose(deletion, expected)
    # Inserting in one order is deleting in the reverse order, from the end.
    backwards, _ = curve_areas(model.predict_proba, queries, order[:, ::-1], donors)
    np.testing.assert_allclose(insertion, backwards)


@pytest.mark.parametrize("with_shap", [False, True])
def test_explanations_are_ahead_of_a_random_order(task, with_shap):
    if with_shap:
        pytest.importorskip("shap")
    model = LANNClassifier(random_state=0).fit(task.X, task.y)
    n_rows = 3 if with_shap else 30
    found = score_curves(model, task, n_rows, with_shap=with_shap)
    assert set(found) == {SUPPORT, RELEVANCES, RANDOM} | ({KERNEL} if with_shap else set())
    for values in found.values():
        assert all(len(values[f"{area}_rows"]) == n_rows for area in AREAS)
        assert values["deletion"] == pytest.approx(np.mean(values["deletion_rows"]))
    assert found[SUPPORT]["deletion"] < found[RANDOM]["deletion"]
    assert found[SUPPORT]["near_insertion"] > found[RANDOM]["near_insertion"]
    assert found[SUPPORT]["seconds"] > 0
    assert found[RANDOM]["seconds"] is None

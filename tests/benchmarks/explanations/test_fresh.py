import pytest

from benchmarks.explanations.fresh import STEPS, measure_fresh
from lann import LANNClassifier


def test_every_step_in_a_new_process_is_timed(task):
    model = LANNClassifier(max_iter=2, random_state=0).fit(task.X, task.y)
    found = measure_fresh(model, task.X_test[:1], n_turns=1)
    assert all(found[step] > 0 for step in STEPS)
    assert found["total"] == pytest.approx(sum(found[step] for step in STEPS[:3]))
    assert found["megabytes"] > 0

"""Made-up results of the paper's benchmark."""

import pytest

from benchmarks.common.methods import Method
from benchmarks.paper.plan import PART, Plan

SCORES = {
    "log_loss_floored": 0.14, "log_loss": 0.13, "brier_floored": 0.1, "brier": 0.1, "ece": 0.02, "errors": {},
    "fit_seconds": 1.0, "predict_seconds": 0.1, "n_train": 25, "n_test": 75,
}  # fmt: skip


@pytest.fixture
def made_up(results_of):
    """Results and plan from {method: {data set: accuracies}}; `scores` are other scores by method."""

    def make(table, protocol="paper", published=None, **scores):
        names = list(dict.fromkeys(name for row in table.values() for name in row))
        methods = [
            Method(
                name, name.upper(), lambda n_jobs, seed: None, "A test.", "tests", (published or {}).get(name)
            )
            for name in table
        ]  # fmt: skip
        cells = {
            (PART, method, name): [
                {"accuracy": value, "balanced_accuracy": value, **SCORES, **scores.get(method, {})}
                for value in accuracies
            ]
            for method, row in table.items()
            for name, accuracies in row.items()
        }
        n_splits = max(len(accuracies) for row in table.values() for accuracies in row.values())
        return results_of(cells).part(PART, "accuracy"), Plan(protocol, 0, n_splits, methods, names)

    return make

"""The parts of the results, and comparisons between methods that explained different numbers of rows."""

from __future__ import annotations

import numpy as np

from benchmarks.engine import Results, mean

(
    PLANTED, KINDS, CATEGORIES, CITIES, PERMUTED, REAL, FAITHFULNESS, ANSWERS, CURVES, COST, FRESH,
) = PARTS = (
    "planted", "kinds", "categories", "cities", "permuted", "real", "faithfulness", "answers", "curves",
    "cost", "fresh",
)  # fmt: skip

MODELS = "models"
"""The results of the models that are explained in the parts "planted" and "kinds"."""

FIRST = "first call"
"""The results of the part "cost" for the first call of a model."""


def auc_difference(
    results: Results, method: str, other: str, data_set: str, part: str = PLANTED
) -> float | None:
    """Return the difference of two mean AUCs, on the seeds and the rows that both methods have."""
    found = results.part(part)
    ours, theirs = found.cell(method, data_set), found.cell(other, data_set)
    differences = []
    for seed in sorted(ours.keys() & theirs.keys()):
        left, right = ours[seed]["aucs"], theirs[seed]["aucs"]
        n_shared = min(len(left), len(right))
        differences.append(float(np.mean(left[:n_shared]) - np.mean(right[:n_shared])))
    return mean(differences)

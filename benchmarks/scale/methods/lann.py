"""LANN: explanations and the recall of its search beside fit and predict."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.arrays import Indices
from benchmarks.engine import Values, seconds_of
from benchmarks.scale._internals import cell_figures, exact_neighbors
from benchmarks.scale.planted import Planted, Rows
from lann import LANNClassifier

N_FOR_RECALL = 1_000


def make(name: str, n_jobs: int, seed: int) -> LANNClassifier:
    return LANNClassifier(n_jobs=n_jobs, random_state=seed)


def warm_up() -> None:
    """Compile the kernels, or load them."""
    X, y = Planted(12, seed=1000).training_rows(500)
    LANNClassifier(random_state=0).fit(X, y).explain(X[:1])


def further(model: LANNClassifier, X: Rows, X_test: Rows) -> Values:
    """Time the explanation of a first and of a second row, and measure the recall of the search."""
    explain = [seconds_of(lambda row=row: model.explain(X_test[row : row + 1])) for row in (0, 1)]  # type: ignore[misc]
    # All at once, since few rows are searched in another way than many.
    found = np.asarray(model.kneighbors(X_test, return_distance=False))[:N_FOR_RECALL]
    exact = exact_neighbors(model, X_test[:N_FOR_RECALL], found.shape[1])
    return {
        "explain_seconds": explain[0],
        "explain_again_seconds": explain[1],
        "recall": recall(found, exact),
        "n_neighbors": int(found.shape[1]),
        "levels": " ".join(model.levels_),
        **cell_figures(model, X_test),
    }


def recall(found: NDArray[Any], exact: Indices) -> float:
    """Return the share of the exact neighbors that were found; both (n_queries, k)."""
    hits = [len(np.intersect1d(one, other)) for one, other in zip(found, exact, strict=True)]
    return float(np.sum(hits) / exact.size)

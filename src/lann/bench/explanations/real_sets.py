"""Real data, where nobody knows which features matter: whether predictions hang on those that are named."""

from __future__ import annotations

import numpy as np
from sklearn.preprocessing import StandardScaler

from lann.bench.explanations.task import Task
from lann.bench.paper import DataSet
from lann.bench.protocols import PROTOCOLS


def real_task(data: DataSet, split: int, n_rows: int, n_jobs: int) -> Task:
    """A split as in `lann bench paper`: trained on a quarter, scaled by it. Nothing is planted."""
    train, test = PROTOCOLS["paper"].splits(data.X, data.y, 0, split + 1)[split]
    scaler = StandardScaler().fit(data.X[train])
    asked = test[:n_rows]
    return Task(
        scaler.transform(data.X[train]), data.y[train], scaler.transform(data.X[asked]), data.y[asked],
        np.zeros((len(asked), data.X.shape[1]), bool), split, n_jobs,
    )  # fmt: skip

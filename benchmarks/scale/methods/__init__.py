"""The methods: what each is called, and the module that makes it.

The modules are imported by name only, so that a change of one does not make the measurements of the others
out of date.
"""

from __future__ import annotations

from dataclasses import dataclass
from importlib.util import find_spec

LANN, HNSW, FLAT = "lann", "faiss-hnsw", "faiss-flat"
BRUTE, TREE = "knn-brute", "knn-tree"
BOOSTING, LARGE_BOOSTING, LIGHTGBM, LARGE_LIGHTGBM = (
    "hist-boosting",
    "hist-boosting-large",
    "lightgbm",
    "lightgbm-large",
)
KNN_1, KNN_5, SCALED_KNN_1, SCALED_KNN_5 = "knn-1", "knn-5", "knn-1-scaled", "knn-5-scaled"
FOREST = "forest"


@dataclass(frozen=True)
class Method:
    """
    A method.

    Parameters
    ----------
    name, label, description
        For the command line, for tables, and for the document.
    module
        Name of the module in `benchmarks.scale.methods` that makes it.
    most_pairs
        Largest product of training rows and test rows; where it would be exceeded, fewer test rows are
        predicted.
    rate
        Seconds for a million values of the training data on two idle cores: for the first estimate of the
        time left.
    needs
        A package that may be missing.
    """

    name: str
    label: str
    description: str
    module: str
    most_pairs: float = float("inf")
    rate: float = 1.0
    needs: str = ""

    @property
    def missing(self) -> str | None:
        """Why the method cannot be measured here; None if it can."""
        if self.needs and find_spec(self.needs) is None:
            return f"needs the package {self.needs}."
        return None

    def n_queries(self, n_rows: int, most: int) -> int:
        """Return the number of test rows that are predicted, among so many training rows."""
        return int(min(most, max(self.most_pairs // n_rows, 50)))


METHODS = {
    method.name: method
    for method in [
        Method(LANN, "LANN", "`LANNClassifier`, defaults.", "lann", rate=15.0),
        Method(
            HNSW,
            "faiss HNSW",
            "Five neighbors, equal votes, by a navigable graph (16 links, width 40 to build and 128 to "
            "search), which also lists the 50 nearest training rows of every training row.",
            "faiss",
            rate=12.0,
            needs="faiss",
        ),
        Method(
            FLAT,
            "faiss flat",
            "Five neighbors, equal votes, by exhaustive search.",
            "faiss",
            rate=0.5,
            needs="faiss",
        ),
        Method(
            BRUTE,
            "kNN, brute",
            "scikit-learn's `KNeighborsClassifier`, five neighbors, by exhaustive search.",
            "scikit_learn",
            most_pairs=2e9,
            rate=1.0,
        ),
        Method(
            TREE,
            "kNN, tree",
            "The same by a k-d tree.",
            "scikit_learn",
            most_pairs=2e8,
            rate=1.5,
        ),
        Method(
            BOOSTING,
            "hist. boosting",
            "scikit-learn's `HistGradientBoostingClassifier`, defaults.",
            "scikit_learn",
            rate=3.0,
        ),
        Method(LIGHTGBM, "LightGBM", "Defaults.", "light_gbm", rate=1.0, needs="lightgbm"),
        Method(
            KNN_1,
            "kNN, k = 1",
            "scikit-learn's `KNeighborsClassifier`, one neighbor, exhaustive search, features as they are.",
            "scikit_learn",
            rate=8.0,
        ),
        Method(
            KNN_5,
            "kNN, k = 5",
            "The same with five neighbors, equal votes.",
            "scikit_learn",
            rate=8.0,
        ),
        Method(
            SCALED_KNN_1, "kNN, k = 1, z-scores", "One neighbor after z-scores.", "scikit_learn", rate=8.0
        ),
        Method(
            SCALED_KNN_5,
            "kNN, k = 5, z-scores",
            "Five neighbors after z-scores.",
            "scikit_learn",
            rate=8.0,
        ),
        Method(FOREST, "random forest", "300 trees, defaults.", "scikit_learn", rate=20.0),
        Method(
            LARGE_BOOSTING,
            "hist. boosting, large",
            "`HistGradientBoostingClassifier` with 500 iterations of 255 leaves.",
            "scikit_learn",
            rate=25.0,
        ),
        Method(
            LARGE_LIGHTGBM,
            "LightGBM, large",
            "500 iterations of 255 leaves.",
            "light_gbm",
            rate=10.0,
            needs="lightgbm",
        ),
    ]
}  # fmt: skip

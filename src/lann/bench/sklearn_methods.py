"""The rows of scikit-learn's methods."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from lann.bench.methods import Method, register

NEIGHBORS = "nearest neighbors"
OTHERS = "other learners"

register(
    Method(
        "knn",
        "kNN",
        lambda n_jobs, seed: KNeighborsClassifier(5, n_jobs=n_jobs),
        "Five neighbors, votes of equal weight: the paper's kNN column.",
        NEIGHBORS,
        published="kNN",
    )
)
register(
    Method(
        "knn-distance",
        "kNN, weighted",
        lambda n_jobs, seed: KNeighborsClassifier(5, weights="distance", n_jobs=n_jobs),
        "Five neighbors, votes weighted by 1 / distance.",
        NEIGHBORS,
    )
)
register(
    Method(
        "nca",
        "NCA + kNN",
        lambda n_jobs, seed: make_pipeline(
            NeighborhoodComponentsAnalysis(random_state=seed), KNeighborsClassifier(5, n_jobs=n_jobs)
        ),
        "Neighborhood components analysis, defaults, then five neighbors.",
        NEIGHBORS,
    )
)
register(
    Method(
        "svm",
        "SVM (RBF)",
        lambda n_jobs, seed: SVC(C=10.0, random_state=seed),
        "Support vectors, RBF kernel, C=10. It gives no probabilities, hence no log-loss and no ECE.",
        OTHERS,
    )
)
register(
    Method(
        "forest",
        "random forest",
        lambda n_jobs, seed: RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed),
        "300 trees, defaults.",
        OTHERS,
    )
)
register(
    Method(
        "boosting",
        "gradient boosting",
        lambda n_jobs, seed: HistGradientBoostingClassifier(random_state=seed),
        "Gradient boosting over histograms, defaults.",
        OTHERS,
    )
)

"""scikit-learn's methods."""

from __future__ import annotations

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from benchmarks.common.methods.method import Method

NEIGHBORS = "nearest neighbors"
OTHERS = "other learners"

N_NEIGHBORS = (1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 25, 30, 35, 40, 50, 60, 75, 100)
N_FOLDS = 5


def _cross_validated_knn(n_jobs: int, seed: int) -> GridSearchCV:
    # A number of neighbors that exceeds the training rows of a fold has no score, and is not chosen.
    return GridSearchCV(
        KNeighborsClassifier(n_jobs=n_jobs),
        {"n_neighbors": N_NEIGHBORS, "weights": ("uniform", "distance")},
        scoring="accuracy",
        cv=StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed),
    )


METHODS = [
    Method(
        "knn",
        "kNN",
        lambda n_jobs, seed: KNeighborsClassifier(5, n_jobs=n_jobs),
        "Five neighbors with equal votes: the kNN column of the paper.",
        NEIGHBORS,
        published="kNN",
    ),
    Method(
        "knn-distance",
        "kNN, weighted",
        lambda n_jobs, seed: KNeighborsClassifier(5, weights="distance", n_jobs=n_jobs),
        "Five neighbors with votes weighted by 1 / distance.",
        NEIGHBORS,
    ),
    Method(
        "knn-cv",
        "kNN, cross-validated",
        _cross_validated_knn,
        "1 to 100 neighbors with equal or weighted votes, the pair with the best accuracy in a 5-fold "
        "cross-validation on the training rows.",
        NEIGHBORS,
    ),
    Method(
        "nca",
        "NCA + kNN",
        lambda n_jobs, seed: make_pipeline(
            NeighborhoodComponentsAnalysis(random_state=seed), KNeighborsClassifier(5, n_jobs=n_jobs)
        ),
        "Neighborhood components analysis, defaults, then five neighbors.",
        NEIGHBORS,
    ),
    Method(
        "svm",
        "SVM (RBF)",
        lambda n_jobs, seed: SVC(C=10.0, random_state=seed),
        "Support vector machine, RBF kernel, C=10. It has no probabilities, hence no log-loss and no ECE.",
        OTHERS,
    ),
    Method(
        "forest",
        "random forest",
        lambda n_jobs, seed: RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed),
        "300 trees, defaults.",
        OTHERS,
    ),
    Method(
        "boosting",
        "gradient boosting",
        lambda n_jobs, seed: HistGradientBoostingClassifier(random_state=seed),
        "Gradient boosting over histograms, defaults.",
        OTHERS,
    ),
]

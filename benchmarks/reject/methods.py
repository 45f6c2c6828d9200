"""The classifiers inside the reject option."""

from __future__ import annotations

from sklearn.ensemble import RandomForestClassifier
from sklearn.svm import SVC

from benchmarks.common.methods import Method
from lann import LANNClassifier

GROUP = "RejectOption around"
OURS, FOREST, SVM = "lann", "forest", "svm"

METHODS = [
    Method(
        FOREST,
        "random forest",
        lambda n_jobs, seed: RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed),
        "300 trees, defaults.",
        GROUP,
    ),
    Method(
        SVM,
        "SVM (RBF)",
        lambda n_jobs, seed: SVC(C=10.0, probability=True, random_state=seed),
        "Support vector machine, RBF kernel, C=10; Platt's probabilities of pairs of classes, coupled, which "
        "order rows better than those of one class against the others.",
        GROUP,
    ),
    Method(
        OURS,
        "LANN",
        lambda n_jobs, seed: LANNClassifier(n_jobs=n_jobs, random_state=seed),
        "LANNClassifier, defaults.",
        GROUP,
    ),
]

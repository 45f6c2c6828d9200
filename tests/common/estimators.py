"""Every public estimator, found by itself, in the configurations that the common checks run."""

import importlib
import inspect
import pkgutil

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

import lann
from lann import LANNClassifier

# Further configurations, beside the default one, that have code of their own.
VARIANTS = {
    "LANNClassifier": [
        {"levels": ("point",)},
        {"n_neighbors": "auto", "power": "auto", "early_stopping": True},
        {"metric": "full"},
        {"metric": "low_rank", "n_components": 2, "class_weight": "balanced"},
    ],
    "LANNRegressor": [
        {"slopes": 0.0, "n_neighbors": 5, "power": 1.0},
        {"metric": "full", "early_stopping": True},
    ],
    "PublishedLANN": [{"metric": "full", "constraint": "determinant"}],
    "RejectOption": [{"by": "local", "thresholds": "exact", "coverage": 0.99, "cv": 0.3}],
    "LANNEmbedding": [{"symmetry": "mean", "method": "tsne", "max_iter": 250}],
}
# What keeps a fit short; the results need not be good.
QUICK = {"max_iter": 10, "random_state": 0}
QUICK_OF = {"LANNClassifier": {"max_iter": 3}, "LANNRegressor": {"max_iter": 3}, "DaskLANN": {"max_iter": 3},
            "PublishedLANN": {"max_iter": 2}, "DANN": {"max_iter": 1},
            "RejectOption": {"estimator": LANNClassifier(max_iter=3, random_state=0)}}  # fmt: skip


def public_estimators():
    """Return the estimators that `lann` and its packages export, by name."""
    packages = [lann, *(importlib.import_module(f"lann.{m.name}") for m in pkgutil.iter_modules(lann.__path__)
                        if m.ispkg and not m.name.startswith("_"))]  # fmt: skip
    exported = [getattr(package, name) for package in packages for name in getattr(package, "__all__", ())]
    return {cls.__name__: cls for cls in exported if inspect.isclass(cls) and issubclass(cls, BaseEstimator)}


class Case:
    """An estimator class with parameters, and what it is checked with.

    Attributes
    ----------
    X, y : scaled measurements of flowers, and their labels
    output : name of the method whose result is compared
    """

    def __init__(self, cls, parameters):
        self.cls, self.parameters = cls, parameters
        self.X, self.y = load_iris(return_X_y=True)
        self.X = scale(self.X)
        if cls.__module__.startswith("lann.streams"):  # rows sorted by class are a drift
            order = np.random.default_rng(0).permutation(len(self.y))
            self.X, self.y = self.X[order], self.y[order]
        self.is_classifier = is_classifier(cls())
        self.is_regressor = is_regressor(cls())
        self.output = (
            "predict_proba" if self.is_classifier else "predict" if self.is_regressor else "transform"
        )
        if self.is_regressor:
            self.y = self.X[:, 0] + np.sin(3 * self.X[:, 2]) + 0.1 * self.X[:, 3] ** 2

    def make(self, **changes):
        """Return an estimator that is fitted in a moment."""
        known = inspect.signature(self.cls).parameters
        quick = QUICK | QUICK_OF.get(self.cls.__name__, {})
        return self.cls(**({k: v for k, v in quick.items() if k in known} | self.parameters | changes))

    def fitted(self, **changes):
        return self.make(**changes).fit(self.X, self.y)

    def result(self, estimator, X=None):
        return np.asarray(getattr(estimator, self.output)(self.X[::7] + 0.01 if X is None else X))

    def __repr__(self):
        options = ", ".join(f"{name}={value!r}" for name, value in self.parameters.items())
        return f"{self.cls.__name__}({options})"


CASES = [
    Case(cls, parameters)
    for name, cls in sorted(public_estimators().items())
    for parameters in [{}, *VARIANTS.get(name, [])]
]

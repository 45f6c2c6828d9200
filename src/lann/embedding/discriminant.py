"""DiscriminantPlane: linear discriminant analysis as a picture, with two classes, too."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_is_fitted, validate_data

from lann._inputs import check_two_classes
from lann._types import Floats


class DiscriminantPlane(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The two directions of linear discriminant analysis that tell classes apart best.

    Two classes leave it with one direction. The second is then that in which the points vary most of those
    across the first; like the first, it has deviation 1 within classes. It says nothing of the classes that
    the first has not said, but a picture needs one.

    Attributes
    ----------
    components_ : (2, n_features)
        The directions; zeros for a second one where there is a single feature.
    mean_ : (n_features,)
        What is placed at the origin.
    n_features_in_, feature_names_in_ : what it was fitted with

    See Also
    --------
    paper_embeddings : The methods that it is compared with.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from lann.embedding.discriminant import DiscriminantPlane
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> DiscriminantPlane().fit(scale(X), y).transform(scale(X)).shape
    (569, 2)
    """

    components_: Floats
    mean_: Floats

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Find the directions.

        Parameters
        ----------
        X : (n_samples, n_features), numeric, finite
        y : (n_samples,) labels of at least two classes
        """
        points, labels = validate_data(self, X, y, dtype=np.float64)
        classes, members = np.unique(labels, return_inverse=True)
        check_two_classes(classes)
        n_axes = min(2, len(classes) - 1, points.shape[1])
        analysis = LinearDiscriminantAnalysis(n_components=n_axes).fit(points, members)
        self.mean_ = analysis.xbar_
        self.components_ = np.zeros((2, points.shape[1]))
        # Fewer are found where class means lie on a line.
        found = analysis.scalings_[:, :n_axes].T
        self.components_[: len(found)] = found
        if len(found) == 1 and points.shape[1] > 1:
            self.components_[1] = _main_direction_across(found[0], points - self.mean_, members)
        self._n_features_out = 2
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Points along the directions: (n_queries, 2)."""
        check_is_fitted(self)
        queries: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        return (queries - self.mean_) @ self.components_.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _main_direction_across(axis: Floats, points: Floats, members: Any) -> Floats:
    """Of the directions orthogonal to an axis, that in which points vary most: (n_features,)."""
    unit = axis / np.linalg.norm(axis)
    left = points - np.outer(points @ unit, unit)
    direction = PCA(1, svd_solver="full").fit(left).components_[0]
    along = left @ direction
    means = np.bincount(members, along) / np.bincount(members)
    within = np.sqrt(np.mean((along - means[members]) ** 2))
    return direction / within if within > 0 else direction

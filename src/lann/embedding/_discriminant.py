"""DiscriminantPlane: linear discriminant analysis in two dimensions, also with two classes."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_is_fitted, validate_data

from lann._support.compat import unchanged_on_failure
from lann._support.inputs import check_two_classes, get_feature_names
from lann._support.sizes import check_training_values, check_values
from lann._support.types import Floats, Labels

# Share of a number that is rounding.
ROUNDING = 1e-14


class DiscriminantPlane(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """The two directions of linear discriminant analysis that separate the classes best.

    With two classes there is only one such direction. The second one is then the direction of largest
    variance orthogonal to the first, scaled to standard deviation 1 within classes, like the first. It adds
    no information about the classes, but the plane needs one.

    Attributes
    ----------
    components_ : ndarray of shape (2, n_features)
        The directions; zeros for the second one if all features but one are constant.
    mean_ : ndarray of shape (n_features,)
        The origin of the plane.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.

    See Also
    --------
    paper_embeddings : The methods that it is compared with.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from lann.embedding import DiscriminantPlane
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
        X : array-like of shape (n_samples, n_features)
            Finite numbers.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.

        Returns
        -------
        self : DiscriminantPlane

        Raises
        ------
        ValueError
            If the data are invalid.
        """
        with unchanged_on_failure(self):
            rows, y = validate_data(self, X, y, dtype=np.float64)
            check_training_values(rows, lambda: get_feature_names(self))
            try:
                classes, labels = np.unique(y, return_inverse=True)
            except TypeError:  # labels that cannot be compared
                raise ValueError("y has labels of several types; give text only or numbers only.") from None
            check_two_classes(classes)
            if all(np.ptp(rows[labels == label], axis=0).max() == 0 for label in range(len(classes))):
                raise ValueError("All rows of a class are equal in every class; there is no plane to find.")
            n_directions = min(2, len(classes) - 1, rows.shape[1])
            try:
                with np.errstate(invalid="ignore"):  # of shares of a variance that is 0
                    analysis = LinearDiscriminantAnalysis(n_components=n_directions).fit(rows, labels)
            except IndexError:  # it has found no direction at all
                raise ValueError(
                    "The rows of different classes do not differ, as far as numbers of their size tell: "
                    "there is no plane to show."
                ) from None
            self.mean_ = analysis.xbar_
            self.components_ = np.zeros((2, rows.shape[1]))
            # There are fewer where the class means lie on a line.
            found = analysis.scalings_[:, :n_directions].T
            self.components_[: len(found)] = found
            if len(found) == 1 and rows.shape[1] > 1:
                self.components_[1] = _orthogonal_direction(found[0], rows, self.mean_, labels)
            self._n_features_out = 2
        return self

    def transform(self, X: ArrayLike) -> Floats:
        """Project rows onto the plane.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        coordinates : ndarray of shape (n_queries, 2)
        """
        check_is_fitted(self)
        queries: Floats = validate_data(self, X, dtype=np.float64, reset=False)
        check_values(queries, lambda: get_feature_names(self))
        return (queries - self.mean_) @ self.components_.T

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _orthogonal_direction(direction: Floats, rows: Floats, mean: Floats, labels: Labels) -> Floats:
    """Return the direction of largest variance orthogonal to a given one, 0 without any: (n_features,)."""
    unit = direction / np.linalg.norm(direction)
    centered = rows - mean
    rest = centered - np.outer(centered @ unit, unit)
    if (np.abs(rest) <= ROUNDING * np.abs(rows).max(axis=0)).all():
        return np.zeros_like(unit)
    second = PCA(1, svd_solver="full").fit(rest).components_[0]
    coordinates = rest @ second
    means = np.bincount(labels, coordinates) / np.bincount(labels)
    within = np.sqrt(np.mean((coordinates - means[labels]) ** 2))
    return second / within if within > 0 else second

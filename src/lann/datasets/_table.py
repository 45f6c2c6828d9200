"""A loaded data set, in the form that every reader returns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from sklearn.utils import Bunch


@dataclass(frozen=True)
class Table:
    """
    Features, labels and their description.

    Parameters
    ----------
    name : str
        The canonical name.
    data : ndarray of shape (n_samples, n_features)
        The features.
    target : ndarray of shape (n_samples,)
        The labels.
    feature_names : sequence of str
        The names of the columns of ``data``.
    target_names : sequence of str
        The names of the classes, in sorted order.
    description : str
        The size and the source of the data.
    extra : mapping, default={}
        Further entries of the Bunch, by name.
    """

    name: str
    data: np.ndarray
    target: np.ndarray
    feature_names: Sequence[str]
    target_names: Sequence[str] | np.ndarray
    description: str
    extra: Mapping[str, Any] = field(default_factory=dict)

    def to_bunch(self, *, as_frame: bool) -> Bunch:
        """
        Convert the table to the form of scikit-learn's loaders.

        Parameters
        ----------
        as_frame : bool
            Whether ``data``, ``target`` and ``frame`` are pandas objects. If False, ``data`` and ``target``
            are arrays, and ``frame`` is None.

        Returns
        -------
        bunch : Bunch
            The entries ``data``, ``target``, ``frame``, ``name``, ``feature_names``, ``target_names``,
            ``DESCR`` and those of ``extra``.
        """
        from sklearn.utils import Bunch

        # Copies, because arrays taken from pandas objects can be read-only.
        data: Any = np.array(self.data, dtype=np.float64, order="C")
        target: Any = np.array(self.target)
        frame = None
        feature_names = [str(name) for name in self.feature_names]
        if as_frame:
            import pandas as pd

            data = pd.DataFrame(data, columns=feature_names)
            target = pd.Series(target, name="target")
            frame = pd.concat([data, target], axis=1)
        return Bunch(
            data=data,
            target=target,
            frame=frame,
            name=self.name,
            feature_names=feature_names,
            target_names=np.asarray(self.target_names),
            DESCR=self.description,
            **self.extra,
        )

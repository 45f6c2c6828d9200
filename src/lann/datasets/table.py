"""A loaded data set, in the one form that every source delivers."""

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
    Features, labels and what is said about them.

    Parameters
    ----------
    name
        The canonical name.
    data
        The features, (n_samples, n_features).
    target
        The class labels, (n_samples,).
    feature_names, target_names
        One name for each column of ``data``, and for each class in sorted order.
    description
        Where the data come from, for people.
    extra
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
        Give the table the form of scikit-learn's own loaders.

        Parameters
        ----------
        as_frame
            Whether ``data``, ``target`` and ``frame`` are pandas objects; else arrays, and no ``frame``.

        Returns
        -------
        bunch
        """
        from sklearn.utils import Bunch

        # Copies, as pandas hands out arrays that cannot be written to.
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

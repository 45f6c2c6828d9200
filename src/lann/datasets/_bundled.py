"""The data sets of the paper that are included in scikit-learn."""

from __future__ import annotations

from lann.datasets._table import Table

BUNDLED = ("breast-cancer", "digits", "iris", "wine")
"""The names that :func:`read_bundled` accepts."""


def read_bundled(name: str) -> Table:
    """
    Read a data set that is included in scikit-learn.

    Parameters
    ----------
    name : str
        One of :data:`BUNDLED`.

    Returns
    -------
    table : Table
        The data set. Its labels are integers that index ``target_names``.
    """
    from sklearn import datasets

    loaders = {
        "breast-cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }
    bunch = loaders[name]()
    return Table(
        name=name,
        data=bunch.data,
        target=bunch.target,
        feature_names=bunch.feature_names,
        target_names=bunch.target_names,
        description=bunch.DESCR,
    )

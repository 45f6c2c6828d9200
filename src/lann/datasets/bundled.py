"""The paper's data sets that come with scikit-learn."""

from __future__ import annotations

from lann.datasets.table import Table

BUNDLED = ("breast-cancer", "digits", "iris", "wine")
"""The names for :func:`read`."""


def read(name: str) -> Table:
    """
    Read a data set that scikit-learn carries.

    Parameters
    ----------
    name
        One of :data:`BUNDLED`.

    Returns
    -------
    table
        Labels are integers that index ``target_names``.
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

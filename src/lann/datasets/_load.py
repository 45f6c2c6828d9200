"""Load a data set by its name."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lann.datasets._files import read_adrenal, read_paper_file
from lann.datasets._generated import read_artificial_classification
from lann.datasets._specs import SPECS, Table, canonical_name

if TYPE_CHECKING:
    from sklearn.utils import Bunch

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


def load(
    name: str,
    *,
    data_home: str | os.PathLike[str] | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    path: str | os.PathLike[str] | None = None,
) -> Bunch | tuple[Any, Any]:
    """
    Load a data set of the LANN paper.

    ============================ ======= ========= ======= ==================================
    name                            rows  features classes source
    ============================ ======= ========= ======= ==================================
    adrenal                          147        32       2 your own file: not public
    artificial-classification       2000        20       2 generated
    breast-cancer                    569        30       2 scikit-learn
    digits                          1797        64      10 scikit-learn
    gamma-telescope                19020        10       2 file or OpenML
    image-segmentation              2310        16       7 file or OpenML
    ionosphere                       351        34       2 file or OpenML
    iris                             150         4       3 scikit-learn
    letter-recognition             20000        16      26 file or OpenML
    outdoor-objects                 4000        21      40 file
    pen-digits                     10992        16      10 file or OpenML
    robot-navigation                5456        24       4 file or OpenML
    usps                            9298       256      10 file or OpenML
    wine                             178        13       3 scikit-learn
    ============================ ======= ========= ======= ==================================

    The file ``<name>.csv.gz`` is searched in the folder named by the environment variable ``LANN_DATA``
    (first in its sub-folder ``paper``), then in the cache. If it is in neither of them, the data set is
    downloaded from OpenML into the cache. Files are verified by their SHA-256. As in the paper, the columns
    2, 3 and 4 of image segmentation are dropped.

    Parameters
    ----------
    name : str
        A name from the table. Case, spaces, underscores and hyphens are ignored, and short forms such as
        ``"letter"`` or ``"gamma"`` are accepted.
    data_home : str, path-like or None, default=None
        The folder of the cache. If None, the sub-folder ``lann`` of scikit-learn's data home.
    download_if_missing : bool, default=True
        Whether to download the data set from OpenML if it is in no folder.
    return_X_y : bool, default=False
        Whether to return ``(data, target)`` instead of a Bunch.
    as_frame : bool, default=False
        Whether to return the features and labels as pandas objects instead of arrays.
    path : str, path-like or None, default=None
        Your file of the adrenal data: comma-separated, plain or gzip-compressed, with a header row and the
        class in the last column. If None, ``adrenal.csv.gz`` or ``adrenal.csv`` is searched in the folders
        above.

    Returns
    -------
    data : Bunch or tuple (data, target)
        A dictionary-like object with these entries. If ``return_X_y`` is True, only ``data`` and ``target``.

        data : ndarray or DataFrame of shape (n_samples, n_features)
            The features, in float64.
        target : ndarray or Series of shape (n_samples,)
            The labels: text for data sets read from files, integers otherwise.
        feature_names : list of str
            The names of the features.
        target_names : ndarray of shape (n_classes,)
            The names of the classes.
        frame : DataFrame or None
            The features and labels. Only if ``as_frame`` is True.
        name : str
            The canonical name.
        DESCR : str
            The size and the source of the data.
        roles : FeatureRoles
            The columns by role. Only for the artificial data set.

    Raises
    ------
    ValueError
        If the name is unknown, or a file has an unexpected content.
    FileNotFoundError
        If the data set is not found. The message lists the folders that were searched, and the source.

    See Also
    --------
    names : Return the names of all data sets.
    cache_folder : Return the folder of the cache.

    Examples
    --------
    >>> from lann.datasets import load
    >>> iris = load("iris")
    >>> iris.data.shape, iris.target_names.tolist()
    ((150, 4), ['setosa', 'versicolor', 'virginica'])
    >>> X, y = load("artificial", return_X_y=True, as_frame=True)
    >>> X.shape, y.name
    ((2000, 20), 'target')
    """
    name = canonical_name(name)
    if path is not None and name != "adrenal":
        raise ValueError(f"path can only be given for the data set 'adrenal'; got {name!r} with a path.")
    bunch = _read(name, data_home, download_if_missing, path).to_bunch(as_frame=as_frame)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _read(
    name: str,
    data_home: str | os.PathLike[str] | None,
    download_if_missing: bool,
    path: str | os.PathLike[str] | None,
) -> Table:
    if name in BUNDLED:
        return read_bundled(name)
    if name == "artificial-classification":
        return read_artificial_classification()
    if name == "adrenal":
        return read_adrenal(path=path, data_home=data_home)
    return read_paper_file(SPECS[name], data_home=data_home, download_if_missing=download_if_missing)

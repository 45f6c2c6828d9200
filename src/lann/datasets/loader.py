"""One function for all data sets of the paper."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from lann.datasets import adrenal, artificial_classification, bundled, paper_file
from lann.datasets.file_sets import FILE_SETS
from lann.datasets.names import canonical_name

if TYPE_CHECKING:
    from sklearn.utils import Bunch

    from lann.datasets.table import Table


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
    name                            rows  features classes from
    ============================ ======= ========= ======= ==================================
    adrenal                          147        32       2 a file of yours: not public
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

    A file, ``<name>.csv.gz``, is looked for in the folder named by the environment variable ``LANN_DATA``
    (first in its sub-folder ``paper``), then in the cache; what neither has is downloaded from OpenML into
    the cache. Files are verified by their SHA-256. Image segmentation comes, as in the paper, without the
    columns 2, 3 and 4 of the file.

    Parameters
    ----------
    name
        A name from the table. Case, spaces, underscores and hyphens do not matter, and short forms such as
        ``"letter"`` or ``"gamma"`` are understood.
    data_home
        The folder of the cache; by default ``lann`` in scikit-learn's data home.
    download_if_missing
        Whether to ask OpenML for what is found in no folder.
    return_X_y
        Whether to return features and labels alone.
    as_frame
        Whether features and labels are pandas objects rather than arrays.
    path
        Your file of the adrenal data: comma-separated, plain or gzip, a header row, the class in the last
        column. Without it, ``adrenal.csv.gz`` or ``adrenal.csv`` is looked for in the folders above.

    Returns
    -------
    data
        A Bunch with ``data`` (n_samples, n_features) in float64, ``target`` (n_samples,), ``feature_names``,
        ``target_names``, ``frame`` (None unless ``as_frame``), ``name`` and ``DESCR``. Labels are text for
        files, integers otherwise. The artificial set also has ``roles``, the columns that matter. With
        ``return_X_y``, the pair of ``data`` and ``target``.

    Raises
    ------
    ValueError
        If the name is unknown, or a file is not what it should be.
    FileNotFoundError
        If the data set is found nowhere; the message lists the places and says where to get it.

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
        raise ValueError(f"path={os.fspath(path)!r} is for the data set 'adrenal' only, not for {name!r}.")
    bunch = _read(name, data_home, download_if_missing, path).to_bunch(as_frame=as_frame)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _read(
    name: str,
    data_home: str | os.PathLike[str] | None,
    download_if_missing: bool,
    path: str | os.PathLike[str] | None,
) -> Table:
    if name in bundled.BUNDLED:
        return bundled.read(name)
    if name == "artificial-classification":
        return artificial_classification.read()
    if name == "adrenal":
        return adrenal.read(path=path, data_home=data_home)
    return paper_file.read(FILE_SETS[name], data_home=data_home, download_if_missing=download_if_missing)

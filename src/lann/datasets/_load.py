"""Names of the data sets of the paper, and how they are loaded."""

from __future__ import annotations

import difflib
import re
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets
from sklearn.utils import Bunch

from lann.datasets._files import SPECS, Folder, read_adrenal, read_dataset
from lann.datasets._generated import PAPER_SEED, make_artificial_classification

_BUNDLED = ("breast-cancer", "digits", "iris", "wine")

PAPER_SETS: tuple[str, ...] = tuple(sorted(("adrenal", "artificial-classification", *_BUNDLED, *SPECS)))
"""The names of the 14 data sets of the paper, in alphabetical order."""


def canonical_name(name: str) -> str:
    """
    Return the canonical name of a data set.

    Parameters
    ----------
    name : str
        A canonical name, or a part of only one of them. Case, spaces, underscores and hyphens are ignored.

    Returns
    -------
    canonical_name : str
        One of ``PAPER_SETS``.

    Raises
    ------
    ValueError
        If the name is unknown. The message lists the known names and suggests the closest one.

    See Also
    --------
    load : Load a data set by its name.

    Examples
    --------
    >>> from lann.datasets import canonical_name
    >>> canonical_name("Pen Digits"), canonical_name("letter")
    ('pen-digits', 'letter-recognition')
    """
    known = {paper_set.replace("-", ""): paper_set for paper_set in PAPER_SETS}
    key = re.sub(r"[\s_-]+", "", str(name).casefold())
    matches = [key] if key in known else [candidate for candidate in known if key in candidate]
    if len(matches) == 1:
        return known[matches[0]]
    close = difflib.get_close_matches(key, known, n=1)
    suggestion = f" Did you mean {known[close[0]]!r}?" if close else ""
    raise ValueError(f"Unknown data set {name!r}.{suggestion} The known ones are: {', '.join(PAPER_SETS)}.")


def load(
    name: str,
    *,
    data_home: Folder | None = None,
    download_if_missing: bool = True,
    return_X_y: bool = False,
    as_frame: bool = False,
    path: Folder | None = None,
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
    downloaded from OpenML into the cache. Files of ``LANN_DATA`` are verified by their SHA-256, cached files
    by their columns and class sizes. As in the paper, the columns 2, 3 and 4 of image segmentation are
    dropped.

    Parameters
    ----------
    name : str
        A name from the table. Case, spaces, underscores and hyphens are ignored, and a part such as
        ``"letter"`` or ``"gamma"`` is enough if no other name has it.
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
    canonical_name : Return the name of a data set, given a part of it.
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
    if name in _BUNDLED:
        bunch = getattr(datasets, f"load_{name.replace('-', '_')}")()
        entries = ("data", "target", "feature_names", "target_names", "DESCR")
        bunch = Bunch(**{entry: bunch[entry] for entry in entries})
    elif name == "artificial-classification":
        bunch = _generate_artificial_classification()
    else:
        bunch = _load_file(name, data_home, download_if_missing, path)
    bunch.update(name=name, feature_names=list(map(str, bunch.feature_names)), frame=None)
    # Copies, because arrays taken from pandas objects can be read-only.
    bunch.data = np.array(bunch.data, dtype=np.float64, order="C")
    bunch.target_names = np.asarray(bunch.target_names)
    if as_frame:
        bunch.data = pd.DataFrame(bunch.data, columns=bunch.feature_names)
        bunch.target = pd.Series(bunch.target, name="target")
        bunch.frame = pd.concat([bunch.data, bunch.target], axis=1)
    return (bunch.data, bunch.target) if return_X_y else bunch


def _generate_artificial_classification() -> Bunch:
    X, y, roles = make_artificial_classification(random_state=PAPER_SEED, return_roles=True)
    return Bunch(
        data=X,
        target=y,
        feature_names=[f"f{column}" for column in range(X.shape[1])],
        target_names=["0", "1"],
        roles=roles,
        DESCR="artificial-classification: 2000 rows, 20 features, 2 classes, generated by "
        f"make_artificial_classification(random_state={PAPER_SEED}).\n"
        f"Informative columns: {roles.informative.tolist()}; linear combinations of them: "
        f"{roles.redundant.tolist()}; all other columns are noise.",
    )


def _load_file(name: str, data_home: Folder | None, download_if_missing: bool, path: Folder | None) -> Bunch:
    if name == "adrenal":
        frame, file = read_adrenal(path, data_home)
        source = (
            f"Read from {file}.\nPatient data that is not public; the data in the paper has 147 rows, 32 "
            "features and 2 classes."
        )
    else:
        spec = SPECS[name]
        frame = read_dataset(spec, data_home, download_if_missing=download_if_missing)
        dropped = f"Dropped, as in the paper: {', '.join(spec.dropped)}.\n" if spec.dropped else ""
        source = f"{dropped}Source: {spec.source}."
    target = frame["target"].to_numpy(dtype=str)
    classes, n_features = np.unique(target), frame.shape[1] - 1
    size = f"{len(frame)} rows, {n_features} features, {len(classes)} classes"
    return Bunch(
        data=frame.iloc[:, :-1].to_numpy(),
        target=target,
        feature_names=frame.columns[:-1],
        target_names=classes,
        DESCR=f"{name}: {size}.\n{source}",
    )

"""Data sets in files: what is expected in them, where they are searched, and how they are downloaded."""

from __future__ import annotations

import gzip
import hashlib
import os
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from lann._support.files import write_atomically

Folder = str | os.PathLike[str]


class DatasetSpec(NamedTuple):
    """
    The expected content of a data set that is stored as ``<name>.csv.gz``: features, then ``target``.

    Attributes
    ----------
    name : str
        The canonical name.
    sha256 : str
        The hash of the compressed file as distributed.
    columns : str
        The names of the feature columns in the file, separated by spaces.
    classes : str
        The name and the number of rows of each class.
    source : str
        Where the data come from, and the publication to cite.
    openml_id : int or None, default=None
        The number of the data set on OpenML; None if it is not there.
    dropped : tuple of str, default=()
        The feature columns that are not used in the paper.
    """

    name: str
    sha256: str
    columns: str
    classes: str
    source: str
    openml_id: int | None = None
    dropped: tuple[str, ...] = ()

    @property
    def class_sizes(self) -> dict[str, int]:
        """The number of rows of each class."""
        words = self.classes.split()
        return dict(zip(words[::2], map(int, words[1::2]), strict=True))


_UCI = "UCI Machine Learning Repository, https://archive.ics.uci.edu"
_SPECS = (
    DatasetSpec(
        "gamma-telescope",
        "514c0515fd7949f37cd8cfa8523fdab05f9cbdf64d2a733c6c4e3a68c5f67fd8",
        "fLength fWidth fSize fConc fConc1 fAsym fM3Long fM3Trans fAlpha fDist",
        "g 12332 h 6688",
        f"Bock et al. 2004, MAGIC Gamma Telescope, {_UCI}",
        1120,
    ),
    DatasetSpec(
        "image-segmentation",
        "cfe620943f988fb86ab88f58813fff2cfdba9c73a2eb8fe14061cbc1c99ec67a",
        "region-centroid-col region-centroid-row region-pixel-count short-line-density-5 "
        "short-line-density-2 vedge-mean vedge-sd hedge-mean hedge-sd intensity-mean rawred-mean "
        "rawblue-mean rawgreen-mean exred-mean exblue-mean exgreen-mean value-mean saturation-mean hue-mean",
        "BRICKFACE 330 CEMENT 330 FOLIAGE 330 GRASS 330 PATH 330 SKY 330 WINDOW 330",
        f"Brodley 1990, Image Segmentation, {_UCI}",
        36,
        ("region-pixel-count", "short-line-density-5", "short-line-density-2"),
    ),
    DatasetSpec(
        "ionosphere",
        "3aea07c9543411058d074c615f79d0fa71110bec573f2dbde6bb677e5825cd39",
        " ".join(f"f{column}" for column in range(34)),
        "b 126 g 225",
        f"Sigillito et al. 1989, Ionosphere, {_UCI}",
        59,
    ),
    DatasetSpec(
        "letter-recognition",
        "4453f46b6eb1af86ee6e53eaa61d023a7c2d6f4fc43fb2930157427dfbc99679",
        "x-box y-box width high onpix x-bar y-bar x2bar y2bar xybar x2ybr xy2br x-ege xegvy y-ege yegvx",
        "A 789 B 766 C 736 D 805 E 768 F 775 G 773 H 734 I 755 J 747 K 739 L 761 M 792 N 783 O 753 P 803 "
        "Q 783 R 758 S 748 T 796 U 813 V 764 W 752 X 787 Y 786 Z 734",
        f"Frey & Slate 1991, Letter Recognition, {_UCI}",
        6,
    ),
    DatasetSpec(
        "outdoor-objects",
        "3c637059b7e6ae2e48e5b41ff839c3f1bcfdc315d8efd2bcb08f4ff51cdb2514",
        " ".join(f"f{column}" for column in range(21)),
        " ".join(f"{label} 100" for label in range(40)),
        "Losing, Hammer & Wersing, IJCNN 2015, Outdoor, published at "
        "https://github.com/vlosing/driftDatasets (realWorld/outdoor)",
    ),
    DatasetSpec(
        "pen-digits",
        "2b784247eca69c7c911fcc991eea1f6db596c903a380c93da959615aeba2130b",
        " ".join(f"x{point} y{point}" for point in range(1, 9)),
        "0 1143 1 1143 2 1144 3 1055 4 1144 5 1055 6 1056 7 1142 8 1055 9 1055",
        f"Alimoglu & Alpaydin 1996, Pen-Based Recognition of Handwritten Digits, {_UCI}",
        32,
    ),
    DatasetSpec(
        "robot-navigation",
        "3187aadbf5b1df9e9e6fdb9e5298b5523a9ca7fb6f3c8bbe8cad80f8d2798de3",
        " ".join(f"US{sensor}" for sensor in range(1, 25)),
        "Move-Forward 2205 Sharp-Right-Turn 2097 Slight-Left-Turn 328 Slight-Right-Turn 826",
        f"Freire et al. 2009, Wall-Following Robot Navigation Data, {_UCI}",
        1497,
    ),
    DatasetSpec(
        "usps",
        "da21a521b213c4783ef3d13db37472bffd807f3ea411c493a88a1f33db79fcae",
        " ".join(f"f{column}" for column in range(256)),
        "0 1553 1 1269 2 929 3 824 4 852 5 716 6 834 7 792 8 708 9 821",
        "Le Cun et al. 1990, USPS zip codes, AT&T research labs via Hastie, Tibshirani & Friedman",
        41082,
    ),
)
SPECS = {spec.name: spec for spec in _SPECS}
"""The data sets that are read from files, by name."""


def cache_folder(data_home: Folder | None = None) -> Path:
    """
    Return the folder in which downloaded data sets are stored.

    The folder is not created by this function.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder. If None, the sub-folder ``lann`` of scikit-learn's data home.

    Returns
    -------
    folder : Path
        The folder, with ``~`` expanded.

    See Also
    --------
    load : Load a data set.
    sklearn.datasets.get_data_home : Return the data home of scikit-learn.

    Examples
    --------
    >>> from lann.datasets import cache_folder
    >>> cache_folder().name
    'lann'
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    return Path(datasets.get_data_home()) / "lann"


def _find(cache: Path, *names: str) -> Path | None:
    """Return the first file with one of the names in the folders of ``LANN_DATA`` or in the cache."""
    root = os.environ.get("LANN_DATA")
    folders = [Path(root).expanduser() / "paper", Path(root).expanduser(), cache] if root else [cache]
    files = (folder / name for folder in folders for name in names)
    return next((file for file in files if file.exists()), None)


def read_table(path: Path) -> pd.DataFrame:
    """
    Read a file as a table.

    Parameters
    ----------
    path : Path
        Comma-separated text in UTF-8 with a header row, gzip-compressed if the name ends in ``.gz``. The last
        column is the class.

    Returns
    -------
    frame : DataFrame
        The features as float64, with empty cells and ``NA`` as NaN, followed by ``target`` as text.

    Raises
    ------
    ValueError
        If the file is not such a table.
    """
    try:
        # "-sig": spreadsheet programs write a byte order mark before the name of the first column.
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        *names, label = frame.columns
        features = frame[names].replace(["", "NA"], np.nan).to_numpy(dtype=np.float64)
        has_header = not np.isfinite(pd.to_numeric(names, errors="coerce")).all()
        has_rows = isinstance(frame.index, pd.RangeIndex) and len(frame)
        if not (has_header and has_rows) or "target" in names:
            raise ValueError("it has no features, header or rows, or more values in a row than in the header")
        if frame[label].isna().any() or (frame[label].str.strip() == "").any():
            raise ValueError("a row has no class")
    except (EOFError, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(
            f"{path} is damaged, or not a comma-separated table with a header row, numbers, and the class in "
            f"the last column: {error}. Replace it with a complete copy."
        ) from error
    return pd.DataFrame(features, columns=names).assign(target=frame[label])


def read_dataset(spec: DatasetSpec, data_home: Folder | None, *, download_if_missing: bool) -> pd.DataFrame:
    """
    Read a data set from the first source that has it: ``LANN_DATA``, the cache, or OpenML.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    data_home : str, path-like or None
        The folder of the cache. If None, the default one.
    download_if_missing : bool
        Whether to download the data set from OpenML into the cache if no folder has it.

    Returns
    -------
    frame : DataFrame
        The feature columns that are used in the paper, followed by ``target``.

    Raises
    ------
    FileNotFoundError
        If no source has the data set.
    ValueError
        If the first file that is found has an unexpected hash or content.
    """
    cache, name = cache_folder(data_home), f"{spec.name}.csv.gz"
    path = _find(cache, name)
    if path is not None:
        # The hash of a table from OpenML is not known.
        if path.parent != cache and hashlib.sha256(path.read_bytes()).hexdigest() != spec.sha256:
            raise ValueError(
                f"{path} is damaged or not the expected file: its SHA-256 is not {spec.sha256}. Replace "
                "it with an unaltered copy, or delete it to search for the data set elsewhere."
            )
        frame, origin = read_table(path), str(path)
    else:
        origin = f"OpenML data set {spec.openml_id}"
        try:
            if spec.openml_id is None or not download_if_missing:
                raise OSError("it is not on OpenML" if download_if_missing else "download_if_missing=False")
            frame = _download(spec)
        except (OSError, HTTPException, ValueError) as error:
            raise FileNotFoundError(
                f"The data set {spec.name!r} was not found: {name} is neither in LANN_DATA, which is "
                f"{os.environ.get('LANN_DATA')}, nor in the cache, {cache}; {origin}: {error}. Source: "
                f"{spec.source}."
            ) from error
    sizes = frame["target"].value_counts().to_dict()
    if list(frame.columns) != [*spec.columns.split(), "target"] or sizes != spec.class_sizes:
        raise ValueError(
            f"{origin} does not contain {spec.name!r}: expected the columns {spec.columns} target and the "
            f"class sizes {spec.class_sizes}; got the columns {' '.join(map(str, frame.columns))} and the "
            f"class sizes {sizes}."
        )
    if path is None:
        text = frame.to_csv(index=False, lineterminator="\n")
        write_atomically(cache / name, gzip.compress(text.encode(), mtime=0))
    return frame.drop(columns=list(spec.dropped))


def _download(spec: DatasetSpec) -> pd.DataFrame:
    """Download a data set from OpenML, and give it the names of the data files."""
    # The renamed table is stored instead, in the cache of lann.
    bunch = datasets.fetch_openml(data_id=spec.openml_id, as_frame=True, cache=False)
    # The columns of OpenML are in the order of the files, under other names; MagicTelescope has row numbers.
    features = bunch.data.drop(columns=[name for name in bunch.data if str(name).casefold() == "id"])
    frame = features.astype("float64").reset_index(drop=True)
    if frame.shape[1] == len(spec.columns.split()):
        frame.columns = spec.columns.split()
    labels = bunch.target.reset_index(drop=True).astype(str)
    by_size = {size: name for name, size in spec.class_sizes.items()}
    if len(by_size) == len(spec.class_sizes):  # all sizes differ: OpenML may only number the classes
        classes = {label: by_size.get(size, label) for label, size in labels.value_counts().items()}
    else:
        by_name = {name.casefold(): name for name in spec.class_sizes}
        classes = {label: by_name.get(label.casefold(), label) for label in labels.unique()}
    return frame.assign(target=labels.map(classes))


def read_adrenal(path: Folder | None, data_home: Folder | None) -> tuple[pd.DataFrame, Path]:
    """
    Read the user's copy of the adrenal data.

    Parameters
    ----------
    path : str, path-like or None
        The file. If None, ``adrenal.csv.gz`` or ``adrenal.csv`` is searched in the folder named by the
        environment variable ``LANN_DATA`` and in the cache.
    data_home : str, path-like or None
        The folder of the cache. If None, the default one.

    Returns
    -------
    frame : DataFrame
        The feature columns, followed by ``target``.
    path : Path
        The file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not a table of numbers with the class in its last column.
    """
    cache = cache_folder(data_home)
    file = _find(cache, "adrenal.csv.gz", "adrenal.csv") if path is None else Path(path).expanduser()
    if file is None:
        raise FileNotFoundError(
            "The data set 'adrenal' is patient data that is not public, so it cannot be downloaded. If you "
            "have a copy (comma-separated, with a header row and the class in the last column), pass path= "
            f"or put adrenal.csv into the folder named by LANN_DATA or into the cache, {cache}."
        )
    return read_table(file), file

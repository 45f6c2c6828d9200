"""Data sets in files: what is expected in them, where they are searched, and how they are downloaded."""

from __future__ import annotations

import gzip
import hashlib
import io
import os
from collections.abc import Mapping
from http.client import HTTPException
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from lann._support.files import read_content, write_atomically

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
    def file_name(self) -> str:
        """The name of the file."""
        return f"{self.name}.csv.gz"

    @property
    def class_sizes(self) -> dict[str, int]:
        """The number of rows of each class."""
        words = self.classes.split()
        return dict(zip(words[::2], map(int, words[1::2]), strict=True))

    @property
    def description(self) -> str:
        """The size and the source of the data."""
        n_features = len(self.columns.split()) - len(self.dropped)
        dropped = f"Dropped, as in the paper: {', '.join(self.dropped)}.\n" if self.dropped else ""
        return (
            f"{self.name}: {sum(self.class_sizes.values())} rows, {n_features} features, "
            f"{len(self.class_sizes)} classes.\n{dropped}Source: {self.source}."
        )


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


def _user_folders() -> list[Path]:
    """Return the folders named by ``LANN_DATA``: its sub-folder ``paper``, and itself."""
    root = os.environ.get("LANN_DATA")
    return [Path(root).expanduser() / "paper", Path(root).expanduser()] if root else []


def _not_found(problem: str, file_names: str, cache: Path, reason: str, advice: str) -> FileNotFoundError:
    user = [f"{folder}: no {file_names}" for folder in _user_folders()] or ["LANN_DATA: not set"]
    searched = "".join(f"\n  - {line}" for line in (*user, f"{cache}: no {file_names}", reason))
    return FileNotFoundError(f"{problem} Searched:{searched}\n{advice}")


def read_table(content: bytes, path: Path) -> pd.DataFrame:
    """
    Read the content of a file as a table.

    Parameters
    ----------
    content : bytes
        Comma-separated text in UTF-8 with a header row, plain or gzip-compressed. The last column is the
        class.
    path : Path
        The file, for error messages.

    Returns
    -------
    frame : DataFrame
        The features as float64, with empty cells and ``NA`` as NaN, followed by ``target`` as text.

    Raises
    ------
    ValueError
        If the content is not such a table.
    """
    try:
        text = gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content
        # "-sig": spreadsheet programs write a byte order mark before the name of the first column.
        frame = pd.read_csv(io.BytesIO(text), dtype=object, keep_default_na=False, encoding="utf-8-sig")
        *names, label = frame.columns
        target = frame[label].to_numpy()
        if not names or "target" in names or np.isfinite(pd.to_numeric(names, errors="coerce")).all():
            raise ValueError(f"got the header {', '.join([*names, label])}")
        if not isinstance(frame.index, pd.RangeIndex) or not len(frame):
            raise ValueError("the rows do not fit to the header")
        if not all(isinstance(value, str) and value.strip() for value in target):
            raise ValueError("a row has no class")
        features = frame[names].replace(["", "NA"], np.nan).to_numpy(dtype=np.float64)
    except (EOFError, OSError, ValueError) as error:
        raise ValueError(
            f"{path} is damaged, or not a comma-separated table with a header row, numbers, and the class in "
            f"the last column: {error}. Replace it with a complete copy."
        ) from error
    return pd.DataFrame(features, columns=names).assign(target=target)


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
    cache = cache_folder(data_home)
    for folder in (*_user_folders(), cache):
        path = folder / spec.file_name
        if path.exists():
            content = read_content(path)
            # The hash of a table from OpenML is not known.
            if folder != cache and hashlib.sha256(content).hexdigest() != spec.sha256:
                raise ValueError(
                    f"{path} is damaged or not the expected file: its SHA-256 is not {spec.sha256}. Replace "
                    "it with an unaltered copy, or delete it to search for the data set elsewhere."
                )
            frame = read_table(content, path)
            _check_content(frame, spec, str(path))
            break
    else:
        frame = _download(spec, cache, download_if_missing=download_if_missing)
    return frame.drop(columns=list(spec.dropped))


def _check_content(frame: pd.DataFrame, spec: DatasetSpec, origin: str) -> None:
    """Raise ValueError unless a table has the expected columns and class sizes."""
    sizes = frame["target"].value_counts().to_dict()
    if list(frame.columns) != [*spec.columns.split(), "target"] or sizes != spec.class_sizes:
        raise ValueError(
            f"{origin} does not contain {spec.name!r}: expected the columns {spec.columns} target and the "
            f"class sizes {spec.class_sizes}; got the columns {' '.join(map(str, frame.columns))} and the "
            f"class sizes {sizes}."
        )


def _download(spec: DatasetSpec, cache: Path, *, download_if_missing: bool) -> pd.DataFrame:
    """Download a data set from OpenML into the cache, with the names of the data files."""
    origin = f"OpenML data set {spec.openml_id}"
    try:
        if spec.openml_id is None or not download_if_missing:
            raise OSError("it is not on OpenML" if download_if_missing else "download_if_missing=False")
        # The renamed table is stored instead, in the cache of lann.
        bunch = datasets.fetch_openml(data_id=spec.openml_id, as_frame=True, cache=False)
    except (OSError, HTTPException, ValueError) as error:
        raise _not_found(
            f"The data set {spec.name!r} was not found.",
            spec.file_name,
            cache,
            f"{origin}: {error}",
            f"Source: {spec.source}.\nPut {spec.file_name} into the folder named by LANN_DATA.",
        ) from error
    # The columns of OpenML are in the order of the files, under other names; MagicTelescope has row numbers.
    features = bunch.data.drop(columns=[name for name in bunch.data if str(name).casefold() == "id"])
    frame = features.astype("float64").reset_index(drop=True)
    if frame.shape[1] == len(spec.columns.split()):
        frame.columns = spec.columns.split()
    labels = bunch.target.reset_index(drop=True)
    labels = (labels.astype("int64") if labels.dtype.kind == "f" else labels).astype(str)
    classes = match_labels(labels.value_counts().to_dict(), spec)
    frame["target"] = [classes.get(label, label) for label in labels]
    _check_content(frame, spec, origin)
    text = frame.to_csv(index=False, lineterminator="\n")
    write_atomically(cache / spec.file_name, gzip.compress(text.encode(), mtime=0))
    return frame


def match_labels(sizes: Mapping[str, int], spec: DatasetSpec) -> dict[str, str]:
    """
    Match the labels used on OpenML to the classes of a data set.

    Parameters
    ----------
    sizes : mapping of str to int
        The number of rows of each label.
    spec : DatasetSpec
        The data set.

    Returns
    -------
    classes : dict of str to str
        The class of each label: the one with the same name, ignoring case. If OpenML only numbers the
        classes, the one with the same number of rows, provided that all class sizes are different. Empty if
        they cannot be matched.
    """
    by_name = {name.casefold(): name for name in spec.class_sizes}
    classes = {label: by_name.get(label.casefold(), label) for label in sizes}
    if {name: sizes[label] for label, name in classes.items()} == spec.class_sizes:
        return classes
    by_size = {size: name for name, size in spec.class_sizes.items()}
    if len(by_size) < len(spec.class_sizes):
        return {}
    return {label: by_size[size] for label, size in sizes.items() if size in by_size}


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
    if path is not None:
        given = Path(path).expanduser()
        return read_table(read_content(given), given), given
    cache = cache_folder(data_home)
    for folder in (*_user_folders(), cache):
        for found in (folder / "adrenal.csv.gz", folder / "adrenal.csv"):
            if found.exists():
                return read_table(read_content(found), found), found
    raise _not_found(
        "The data set 'adrenal' is patient data that is not public, so it cannot be downloaded.",
        "adrenal.csv.gz or adrenal.csv",
        cache,
        "OpenML: does not have it",
        "If you have a copy (comma-separated, with a header row and the class in the last column), pass "
        "path=..., or put it into the folder named by LANN_DATA.",
    )

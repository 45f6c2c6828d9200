"""The data sets of the paper: names, sizes, columns and sources."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from string import ascii_uppercase
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.utils import Bunch

PAPER_SETS: tuple[str, ...] = (
    "adrenal",
    "artificial-classification",
    "breast-cancer",
    "digits",
    "gamma-telescope",
    "image-segmentation",
    "ionosphere",
    "iris",
    "letter-recognition",
    "outdoor-objects",
    "pen-digits",
    "robot-navigation",
    "usps",
    "wine",
)
"""The names of the 14 data sets of the paper, in alphabetical order."""

# Without separators, so that a key matches "pen digits", "pen_digits" and "PenDigits".
_ALIASES = {
    "artificial": "artificial-classification",
    "breast": "breast-cancer",
    "gamma": "gamma-telescope",
    "letter": "letter-recognition",
    "letters": "letter-recognition",
    "magic": "gamma-telescope",
    "magictelescope": "gamma-telescope",
    "outdoor": "outdoor-objects",
    "robot": "robot-navigation",
    "segment": "image-segmentation",
    "segmentation": "image-segmentation",
    "wallrobotnavigation": "robot-navigation",
}


def names() -> list[str]:
    """
    Return the names of the data sets that :func:`load` can load.

    Returns
    -------
    names : list of str
        The canonical names, in alphabetical order.

    See Also
    --------
    load : Load a data set by its name.

    Examples
    --------
    >>> from lann.datasets import names
    >>> len(names())
    14
    >>> names()[7:9]
    ['iris', 'letter-recognition']
    """
    return list(PAPER_SETS)


def canonical_name(name: str) -> str:
    """
    Return the canonical name of a data set.

    Parameters
    ----------
    name : str
        A canonical name or an alias. Case, spaces, underscores and hyphens are ignored.

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
    names : Return all canonical names.

    Examples
    --------
    >>> from lann.datasets import canonical_name
    >>> canonical_name("Pen Digits"), canonical_name("letter")
    ('pen-digits', 'letter-recognition')
    """
    known = {_without_separators(paper_set): paper_set for paper_set in PAPER_SETS} | _ALIASES
    key = _without_separators(name) if isinstance(name, str) else ""
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key, known, n=1)
    suggestion = f" Did you mean {known[close[0]]!r}?" if close else ""
    raise ValueError(f"Unknown data set {name!r}.{suggestion} The known ones are: {', '.join(PAPER_SETS)}.")


def _without_separators(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())


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


_UCI = "UCI Machine Learning Repository, https://archive.ics.uci.edu"


@dataclass(frozen=True)
class DatasetSpec:
    """
    The expected content of a data set that is stored as ``<name>.csv.gz``: features, then ``target``.

    Parameters
    ----------
    name : str
        The canonical name.
    sha256 : str
        The hash of the compressed file as distributed.
    columns : tuple of str
        The names of the feature columns in the file.
    class_sizes : mapping of str to int
        The number of rows of each class.
    source : str
        Where the data come from.
    citation : str
        The publication to cite.
    openml_id : int or None, default=None
        The number of the data set on OpenML; None if it is not there.
    dropped : tuple of int, default=()
        Zero-based indices of the feature columns that are not used in the paper.
    """

    name: str
    sha256: str
    columns: tuple[str, ...]
    class_sizes: Mapping[str, int]
    source: str
    citation: str
    openml_id: int | None = None
    dropped: tuple[int, ...] = ()

    @property
    def file_name(self) -> str:
        """The name of the file."""
        return f"{self.name}.csv.gz"

    @property
    def n_samples(self) -> int:
        """The number of rows."""
        return sum(self.class_sizes.values())

    @property
    def kept(self) -> list[int]:
        """Zero-based indices of the feature columns that are used in the paper."""
        return [column for column in range(len(self.columns)) if column not in self.dropped]

    def check(self, frame: pd.DataFrame, origin: str) -> None:
        """
        Raise ValueError unless a table has the expected columns and class sizes.

        Parameters
        ----------
        frame : DataFrame
            The feature columns, followed by ``target``.
        origin : str
            Where the table comes from, for the error message.
        """
        columns = list(frame.columns)
        if columns != [*self.columns, "target"]:
            raise ValueError(
                f"{origin} does not contain {self.name!r}: expected the {len(self.columns)} feature columns "
                f"{', '.join(self.columns)} and then target, found {', '.join(map(str, columns))}."
            )
        sizes = frame["target"].value_counts().to_dict()
        if sizes != dict(self.class_sizes):
            raise ValueError(
                f"{origin} does not contain {self.name!r}: expected {self.n_samples} rows with the class "
                f"sizes {dict(self.class_sizes)}, found {len(frame)} rows with {sizes}."
            )


def _numbered(n_columns: int) -> tuple[str, ...]:
    return tuple(f"f{column}" for column in range(n_columns))


_SPECS = (
    DatasetSpec(
        name="gamma-telescope",
        sha256="514c0515fd7949f37cd8cfa8523fdab05f9cbdf64d2a733c6c4e3a68c5f67fd8",
        columns=(
            *("fLength", "fWidth", "fSize", "fConc", "fConc1"),
            *("fAsym", "fM3Long", "fM3Trans", "fAlpha", "fDist"),
        ),
        class_sizes={"g": 12332, "h": 6688},
        source=f"MAGIC Gamma Telescope, {_UCI}",
        citation="Bock et al. 2004",
        openml_id=1120,
    ),
    DatasetSpec(
        name="image-segmentation",
        sha256="cfe620943f988fb86ab88f58813fff2cfdba9c73a2eb8fe14061cbc1c99ec67a",
        columns=(
            *("region-centroid-col", "region-centroid-row", "region-pixel-count"),
            *("short-line-density-5", "short-line-density-2"),
            *("vedge-mean", "vedge-sd", "hedge-mean", "hedge-sd", "intensity-mean"),
            *("rawred-mean", "rawblue-mean", "rawgreen-mean"),
            *("exred-mean", "exblue-mean", "exgreen-mean"),
            *("value-mean", "saturation-mean", "hue-mean"),
        ),
        class_sizes=dict.fromkeys(("BRICKFACE", "CEMENT", "FOLIAGE", "GRASS", "PATH", "SKY", "WINDOW"), 330),
        source=f"Image Segmentation, {_UCI}",
        citation="Brodley 1990",
        openml_id=36,
        dropped=(2, 3, 4),
    ),
    DatasetSpec(
        name="ionosphere",
        sha256="3aea07c9543411058d074c615f79d0fa71110bec573f2dbde6bb677e5825cd39",
        columns=_numbered(34),
        class_sizes={"b": 126, "g": 225},
        source=f"Ionosphere, {_UCI}",
        citation="Sigillito et al. 1989",
        openml_id=59,
    ),
    DatasetSpec(
        name="letter-recognition",
        sha256="4453f46b6eb1af86ee6e53eaa61d023a7c2d6f4fc43fb2930157427dfbc99679",
        columns=(
            *("x-box", "y-box", "width", "high", "onpix", "x-bar", "y-bar", "x2bar"),
            *("y2bar", "xybar", "x2ybr", "xy2br", "x-ege", "xegvy", "y-ege", "yegvx"),
        ),
        class_sizes=dict(
            zip(
                ascii_uppercase,
                (
                    *(789, 766, 736, 805, 768, 775, 773, 734, 755, 747, 739, 761, 792),
                    *(783, 753, 803, 783, 758, 748, 796, 813, 764, 752, 787, 786, 734),
                ),
                strict=True,
            )
        ),
        source=f"Letter Recognition, {_UCI}",
        citation="Frey & Slate 1991",
        openml_id=6,
    ),
    DatasetSpec(
        name="outdoor-objects",
        sha256="3c637059b7e6ae2e48e5b41ff839c3f1bcfdc315d8efd2bcb08f4ff51cdb2514",
        columns=_numbered(21),
        class_sizes={str(label): 100 for label in range(40)},
        source=(
            "Outdoor, published by its authors at https://github.com/vlosing/driftDatasets "
            "(realWorld/outdoor: outdoorStream.data and outdoorStream.labels)"
        ),
        citation="Losing, Hammer & Wersing, IJCNN 2015",
    ),
    DatasetSpec(
        name="pen-digits",
        sha256="2b784247eca69c7c911fcc991eea1f6db596c903a380c93da959615aeba2130b",
        columns=tuple(f"{axis}{point}" for point in range(1, 9) for axis in "xy"),
        class_sizes=dict(
            zip("0123456789", (1143, 1143, 1144, 1055, 1144, 1055, 1056, 1142, 1055, 1055), strict=True)
        ),
        source=f"Pen-Based Recognition of Handwritten Digits, {_UCI}",
        citation="Alimoglu & Alpaydin 1996",
        openml_id=32,
    ),
    DatasetSpec(
        name="robot-navigation",
        sha256="3187aadbf5b1df9e9e6fdb9e5298b5523a9ca7fb6f3c8bbe8cad80f8d2798de3",
        columns=tuple(f"US{sensor}" for sensor in range(1, 25)),
        class_sizes={
            "Move-Forward": 2205,
            "Sharp-Right-Turn": 2097,
            "Slight-Left-Turn": 328,
            "Slight-Right-Turn": 826,
        },
        source=f"Wall-Following Robot Navigation Data, {_UCI}",
        citation="Freire et al. 2009",
        openml_id=1497,
    ),
    DatasetSpec(
        name="usps",
        sha256="da21a521b213c4783ef3d13db37472bffd807f3ea411c493a88a1f33db79fcae",
        columns=_numbered(256),
        class_sizes=dict(
            zip("0123456789", (1553, 1269, 929, 824, 852, 716, 834, 792, 708, 821), strict=True)
        ),
        source="USPS zip codes, AT&T research labs via Hastie, Tibshirani & Friedman",
        citation="Le Cun et al. 1990",
        openml_id=41082,
    ),
)

SPECS: dict[str, DatasetSpec] = {spec.name: spec for spec in _SPECS}
"""The data sets that are read from files, by name."""

"""The data sets that are read from files: columns, class sizes, hashes and sources."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from string import ascii_uppercase
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

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

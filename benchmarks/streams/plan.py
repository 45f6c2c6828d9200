"""What a run of the streams measures."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.streams.methods import Method

STREAM, SPEED, MEMORY = PARTS = ("streams", "speed", "memory")

MOST_ROWS = 200_000
BASELINE_ROWS, QUICK_BASELINE_ROWS = 20_000, 5_000

REFERENCE_ERRORS = {
    "keystroke": (1_600, 8.75),
    "outdoor": (4_000, 11.75),
    "weather": (18_159, 21.87),
    "electricity": (10_000, 18.74),
    "sea": (10_000, 12.42),
    "moving-squares": (10_000, 2.72),
    "rialto": (15_000, 18.34),
    "interchanging-rbf": (10_000, 2.29),
    "transient-chessboard": (10_000, 8.45),
    "covtype": (10_000, 18.50),
}
"""By stream: a number of first rows, and the error in percent of the authors' program on them."""


@dataclass(frozen=True)
class Plan:
    """
    The methods and streams of a run.

    Parameters
    ----------
    methods
        In the order of the tables.
    streams
        Names of the streams.
    baseline_rows
        Up to this row all methods are compared; the slow ones end there.
    most_rows
        Largest number of rows of a stream.
    """

    methods: list[Method]
    streams: list[str]
    baseline_rows: int
    most_rows: int = MOST_ROWS

    @property
    def whole(self) -> list[Method]:
        """The methods that are measured on whole streams."""
        return [method for method in self.methods if not method.is_slow]

    def scope(self, n_rows: int | None) -> str:
        """Describe the first rows, or whole streams if `n_rows` is None."""
        return f"whole streams, at most {self.most_rows} rows" if n_rows is None else f"first {n_rows} rows"

    @property
    def method_names(self) -> list[str]:
        return [method.name for method in self.methods]

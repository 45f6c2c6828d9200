"""One measurement: its identity, and the function that measures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Values = dict[str, Any]
"""The scores of one method in one repeat, by name. Everything in it can be written as JSON."""

Found = dict[str, Values]
"""The outcome of a job: values by method. Most jobs measure a single method."""

Cell = tuple[str, str, str]
"""A part of a benchmark, a method and a data set."""


@dataclass(frozen=True)
class Job:
    """
    One measurement.

    Parameters
    ----------
    part, method, data_set
        The cell of the results to which the measurement belongs. If a job fails, later repeats of its cell
        are not run.
    repeat
        The number of the split or the seed.
    run
        Measure, and return values by method.
    label
        Description for the progress bar and for messages; by default the method and the data set.
    fingerprint
        Everything that the outcome depends on, from `fingerprint`. A stored measurement with another
        fingerprint is out of date. None: the measurement is not stored.
    size
        Size of the data, for the estimate of the time left.
    expected
        Seconds that the job is expected to take, as long as its method was not measured on any data; None if
        that is not known.
    """

    part: str
    method: str
    data_set: str
    repeat: int
    run: Callable[[], Found]
    label: str = ""
    fingerprint: Values | None = None
    size: float = 1.0
    expected: float | None = None

    @property
    def cell(self) -> Cell:
        return self.part, self.method, self.data_set

    @property
    def title(self) -> str:
        """The label, or a description made of the method and the data set."""
        return self.label or f"{self.method} on {self.data_set}"

"""What a benchmark has to know of a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Method:
    """
    A method: a row of the tables.

    Parameters
    ----------
    name
        Its name in the terminal and after ``--method``: lower-case words and digits, joined by hyphens.
    label
        Its name in documents.
    make
        From the number of threads and a seed to an estimator that is not fitted.
    description
        One sentence: the estimator and its parameters.
    group
        Heading of the section to which the row belongs.
    published
        The column of the paper's table with which the row is compared, if there is one.
    quick
        Whether ``--quick`` measures it.
    """

    name: str
    label: str
    make: Callable[[int, int], Any]
    description: str
    group: str
    published: str | None = None
    quick: bool = True

"""What a benchmark has to know of a method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
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
    needs
        The package that it needs beside scikit-learn and `lann`, as it is imported.
    """

    name: str
    label: str
    make: Callable[[int, int], Any]
    description: str
    group: str
    published: str | None = None
    quick: bool = True
    needs: str | None = None

    @property
    def compiles(self) -> bool:
        """Whether a first fit compiles or loads something: other packages are loaded with the estimator."""
        return self.needs is None

    @property
    def missing(self) -> str | None:
        """Why it cannot be measured here; None if it can."""
        if self.needs is None or find_spec(self.needs) is not None:
            return None
        return f"needs {self.needs}, which is not installed: pip install 'lann[benchmarks]'."

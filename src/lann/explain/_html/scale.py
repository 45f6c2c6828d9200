"""The scale of bars, which all explained rows of a page share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._types import Floats
from lann.explain._explained_row import ExplainedRow


@dataclass(frozen=True)
class Scale:
    """The values of bars of full length."""

    relevance: float
    support: float

    @classmethod
    def of(cls, rows: list[ExplainedRow]) -> Scale:
        """Return the largest values of some rows."""

        def largest(values: Floats | None) -> float:
            return 0.0 if values is None else float(np.abs(values).max())

        return cls(
            max(largest(row.relevances) for row in rows),
            max(largest(row.support) for row in rows),
        )

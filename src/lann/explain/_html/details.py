"""What a page shows beside explained rows, if it is known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from lann.explain._contrast import Contrast
    from lann.explain._counterfactual import Counterfactuals


@dataclass(frozen=True)
class PageDetails:
    """What a page shows beside explained rows; `lann.report.report_page` fills it from the model.

    Attributes
    ----------
    contrast : Contrast or None
        The nearest training row of another class of each explained row, named as the neighbors are.
    counterfactuals : Counterfactuals or None
        The smallest changes of the first rows that lead to other predictions.
    embedding : str or None
        Address of an embedding page; rows and neighbors link to it.
    """

    contrast: Contrast | None = None
    counterfactuals: Counterfactuals | None = None
    embedding: str | None = None

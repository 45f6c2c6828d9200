"""What the report computes beside the explanation: contrasts and counterfactuals."""

from __future__ import annotations

from typing import Literal
from urllib.parse import quote, urlsplit

from lann._validation import Integer, validate
from lann.explain import Counterfactuals, Explanation, PageDetails, contrast_of_explanation
from lann.tables import TableModel

# Rows of which counterfactuals are found if their number is not given: so many, and fewer with many columns,
# for each of which several changes are tried.
MOST_CHANGED, MOST_TRIED = 100, 20_000
# Addresses that a link may have: files, and pages of a server.
SCHEMES = ("", "file", "http", "https")


def page_details(
    model: TableModel,
    explanation: Explanation,
    counterfactuals: Counterfactuals | int | Literal["auto"],
    embedding: str | None,
) -> PageDetails:
    """Return what the page shows beside the explained rows.

    Parameters
    ----------
    model : TableModel
    explanation : Explanation
    counterfactuals : Counterfactuals, int or "auto"
        As in `report_page`.
    embedding : str or None
        Address of an embedding page.
    """
    contrast = contrast_of_explanation(model.classifier, explanation, row_numbers=model.row_numbers)
    changes = _changes(model, explanation, counterfactuals)
    return PageDetails(contrast, changes, None if embedding is None else _address(embedding))


def _changes(
    model: TableModel, explanation: Explanation, counterfactuals: Counterfactuals | int | Literal["auto"]
) -> Counterfactuals | None:
    """Return counterfactuals of the first rows; None if there are none."""
    if isinstance(counterfactuals, Counterfactuals):
        if len(counterfactuals) > len(explanation):
            raise ValueError(
                f"There are {len(counterfactuals)} counterfactuals of {len(explanation)} explained rows; "
                "give those of the first rows, in their order."
            )
        return counterfactuals
    if counterfactuals == "auto":
        n_rows = min(MOST_CHANGED, max(MOST_TRIED // len(model.columns) ** 2, 1))
    else:
        validate("counterfactuals", counterfactuals, Integer(0))
        n_rows = counterfactuals
    if n_rows == 0 or explanation.has_groups or len(model.classifier.classes_) < 2:
        return None
    return model.counterfactuals_of_explanation(explanation[:n_rows])


def _address(embedding: str) -> str:
    """Return the address of a page for links; raise ValueError if it is not that of a page."""
    parts = urlsplit(embedding)
    if parts.scheme not in SCHEMES or parts.fragment or not parts.path:
        raise ValueError(f"embedding must be the file name of an embedding page; got {embedding!r}.")
    return quote(embedding, safe="/:?&=%~+-._")

"""An explained row as a page shows it: with its flags, and links to it."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._markup import Html, class_label, element
from lann._types import Indices
from lann.explain._decision import AMBIGUOUS
from lann.explain._explained_row import ExplainedRow
from lann.explain._html.details import PageDetails
from lann.explain._words import CLOSE

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation


@dataclass(frozen=True)
class RowView:
    """An explained row as a page shows it.

    Attributes
    ----------
    row : ExplainedRow
    position : int
        Position in the explanation.
    anchor : str
        The id of its section.
    has_overview : bool
        Whether the page has an overview, to which the row links.
    details : PageDetails
    """

    row: ExplainedRow
    position: int
    anchor: str
    has_overview: bool
    details: PageDetails

    @property
    def name(self) -> str:
        """How the row is named in a column of rows."""
        return self.row.title.removeprefix("Row ").partition(": ")[0]

    @property
    def id_beside_row(self) -> bool:
        """Whether the row has an id beside its number."""
        return self.row.id is not None and self.name != self.row.id

    @property
    def is_mistake(self) -> bool:
        """Whether the label is known, and is not the prediction."""
        label = self.row.true_label
        return label is not None and str(label) != str(self.row.prediction)

    @property
    def is_doubtful(self) -> bool:
        """Whether the runner-up has almost as many votes; the sentence says "narrowly" then."""
        row = self.row
        first, second = (row.class_votes[row.class_index(label)] for label in (row.prediction, row.runner_up))
        return bool(first - second < CLOSE)

    @property
    def is_rejected(self) -> bool:
        """Whether a reject option has rejected the prediction."""
        return self.row.decision is not None and self.row.decision.is_rejected

    @property
    def flags(self) -> list[str]:
        """What is to be noted: "mistake", "doubtful" or, with a reject option, "ambiguous", and "far"."""
        marks = {"mistake": self.is_mistake, "doubtful": self.is_doubtful}
        if self.row.decision is not None:
            marks = {"mistake": self.is_mistake, "ambiguous": self.row.decision.decision == AMBIGUOUS}
        return [name for name, is_set in (marks | {"far": self.row.is_far}).items() if is_set]

    @property
    def order(self) -> Indices:
        """Positions of the features, those with the largest support or opposition first: (n_features,)."""
        row = self.row
        return np.argsort(-np.abs(row.relevances if row.support is None else row.support), kind="stable")

    def labeled(self, label: Any) -> Html:
        """Return a label in the color of its class; as plain text if no training row has it."""
        known = np.flatnonzero(self.row.classes == label)
        return class_label(label, int(known[0])) if len(known) else element("span", str(label))

    def training_row(self, number: int, text: str) -> Html:
        """Return the name of a training row, as a link to its point in the embedding if there is one."""
        return self._link(text, f"row-{number}")

    @property
    def links(self) -> list[Html]:
        """Links to the point of this row in the embedding, and to the overview, if there are such."""
        row, links = self.row, []
        if self.details.embedding is not None:
            target = f"new-{row.row}" if row.left_out is None else f"row-{row.left_out}"
            links.append(self._link("in the embedding", target, class_="point"))
        if self.has_overview:
            links.append(element("a", "to the overview", href="#overview"))
        return links

    def _link(self, text: str, fragment: str, class_: str | None = None) -> Html:
        if self.details.embedding is None:
            return element("span", text)
        return element("a", text, href=f"{self.details.embedding}#{fragment}", class_=class_)


def row_views(explanation: Explanation, details: PageDetails) -> list[RowView]:
    """Return the rows of an explanation as a page shows them, each with an id of its own."""
    views, seen = [], Counter[str]()
    for position, row in enumerate(explanation.rows()):
        anchor = f"row-{row.row}"
        seen[anchor] += 1
        if seen[anchor] > 1:
            anchor += f"-{seen[anchor]}"
        views.append(RowView(row, position, anchor, len(explanation) > 1, details))
    return views

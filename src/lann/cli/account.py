"""What made some predictions, in the user's own columns and rows."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.trained import Trained
    from lann.explain import Explanation


@dataclass(frozen=True)
class Account:
    """One prediction: its neighbors, and what each column had to do with it, most relevant first.

    Attributes
    ----------
    row : where it stands in the file
    id : what it is called, or None
    prediction, runner_up : labels
    words : why, in a sentence
    classes, probabilities : (n_classes,) and their parts of the votes
    rows, ids : (k,) where the neighbors stand in the training data, and what they are called; ids may be
        None
    labels, distances, vote_shares : (k,)
    columns : (n_columns,)
    relevances : (n_columns,) the share of the vote that changes, around the row, when the column's value is
        another's; of a text column, summed over its values
    support, separation : (n_columns,) how much more of the vote the prediction has by the column's value than
        by others, and how much more than the runner-up; None where the model does not tell
    contributions : (k, n_columns) what each column adds to each distance
    asked : (n_columns,) the row's own values
    values : (k, n_columns) the neighbors' values, or None
    """

    row: int
    id: str | None
    prediction: Any
    runner_up: Any
    words: str
    classes: NDArray[Any]
    probabilities: Floats
    rows: NDArray[np.int64]
    ids: NDArray[Any] | None
    labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    columns: list[str]
    relevances: Floats
    support: Floats | None
    separation: Floats | None
    contributions: Floats
    asked: list[Any]
    values: NDArray[Any] | None

    def votes_of(self, label: Any) -> float:
        """A label's part of the votes."""
        return float(self.probabilities[self.classes == label][0])

    @property
    def share(self) -> float:
        """The prediction's part of the votes."""
        return self.votes_of(self.prediction)

    @property
    def distance_parts(self) -> Floats:
        """The part of the distances that each column makes, by votes: (n_columns,)."""
        total = self.contributions.sum(axis=1, keepdims=True)
        parts = np.divide(self.contributions, total, out=np.zeros_like(self.contributions), where=total > 0)
        return self.vote_shares @ parts

    def to_frame(self) -> pd.DataFrame:
        """One line per neighbor and column."""
        import pandas as pd

        k, n_columns = self.contributions.shape
        table: dict[str, Any] = {"row": self.row}
        if self.id is not None:
            table["id"] = self.id
        table |= {
            "prediction": self.prediction,
            "runner_up": self.runner_up,
            "neighbor_row": np.repeat(self.rows, n_columns),
        }
        if self.ids is not None:
            table["neighbor_id"] = np.repeat(self.ids, n_columns)
        table |= {
            "neighbor_label": np.repeat(self.labels, n_columns),
            "distance": np.repeat(self.distances, n_columns),
            "vote_share": np.repeat(self.vote_shares, n_columns),
            "column": self.columns * k,
            "relevance": np.tile(self.relevances, k),
        }
        if self.support is not None and self.separation is not None:
            table |= {"support": np.tile(self.support, k), "separation": np.tile(self.separation, k)}
        # As text, for numbers and words stand in one column.
        table |= {
            "contribution": self.contributions.ravel(),
            "value": [value_text(value) for value in self.asked] * k,
        }
        if self.values is not None:
            table["neighbor_value"] = [value_text(value) for value in self.values.ravel()]
        return pd.DataFrame(table)


def explain_rows(trained: Trained, rows: pd.DataFrame | NDArray[Any]) -> Explanation:
    """The explanation of prepared rows, over the user's columns and with the ids of the training rows."""
    explanation = trained.classifier.explain(trained.features(rows)).grouped(trained.origins())
    return dataclasses.replace(explanation, neighbor_ids=trained.ids(explanation.neighbors))


def accounts(
    trained: Trained,
    rows: pd.DataFrame | NDArray[Any],
    explanation: Explanation,
    places: list[int],
    ids: NDArray[Any] | None = None,
) -> list[Account]:
    """What to tell about each of some rows.

    rows : (n_rows, …) prepared
    explanation : of these rows, from `explain_rows`
    places : (n_rows,) where they stand in their file
    ids : (n_rows,) what they are called, or None
    """
    columns = list(explanation.feature_names)
    asked = _asked(rows, explanation)
    support = explanation.support if explanation.tells_supports else None
    separation = explanation.separation if explanation.tells_supports else None
    row_numbers = trained.row_numbers(explanation.neighbors)
    # So that sentences name rows as they stand in the file.
    words = dataclasses.replace(explanation, neighbors=row_numbers).in_words()
    runner_up = explanation.runner_up
    found = []
    for i, place in enumerate(places):
        values = trained.training_values(explanation.neighbors[i])
        order = np.argsort(-explanation.relevances[i], kind="stable")
        names = [columns[place] for place in order]
        called = explanation.neighbor_ids
        found.append(
            Account(
                row=place,
                id=None if ids is None else str(ids[i]),
                prediction=explanation.predictions[i],
                runner_up=runner_up[i],
                words=words[i],
                classes=explanation.classes,
                probabilities=explanation.probabilities[i],
                rows=row_numbers[i],
                ids=None if called is None else called[i],
                labels=explanation.neighbor_labels[i],
                distances=explanation.distances[i],
                vote_shares=explanation.vote_shares[i],
                columns=names,
                relevances=explanation.relevances[i, order],
                support=None if support is None else support[i, order],
                separation=None if separation is None else separation[i, order],
                contributions=explanation.contributions[i][:, order],
                asked=[asked[name].iloc[i] for name in names],
                values=None if values is None else values[names].to_numpy(dtype=object),
            )
        )
    return found


def _asked(rows: Any, explanation: Explanation) -> pd.DataFrame:
    """The values of the rows asked about, by column; where a pipeline made the columns, those it made."""
    import pandas as pd

    columns = list(explanation.feature_names)
    if isinstance(rows, pd.DataFrame) and set(columns) <= set(rows.columns):
        return rows
    as_given = not isinstance(rows, pd.DataFrame) and rows.shape[1] == len(columns)
    return pd.DataFrame(rows if as_given else explanation.queries, columns=columns)


def value_text(value: Any) -> str:
    if is_missing(value):
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def is_missing(value: Any) -> bool:
    return value is None or value != value


def percent(share: float, digits: int = 0) -> str:
    """A share for people: what is more than nothing does not become "0%", nor what is not all "100%"."""
    least = 10.0**-digits
    text = f"{share:.{digits}%}"
    if share > 0 and text == f"{0:.{digits}%}":
        return f"<{least:.{digits}f}%"
    if share < 1 - 1e-9 and text == f"{1:.{digits}%}":
        return f">{100 - least:.{digits}f}%"
    return text if float(text[:-1]) else f"{0:.{digits}%}"  # no "-0%"

"""What made one prediction, in the user's own columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.trained import Trained


@dataclass(frozen=True)
class Account:
    """One prediction: its neighbours, and what each column had to do with it, most relevant first.

    Attributes
    ----------
    prediction, share : the label, and its part of the votes
    rows, ids : (k,) where the neighbours stand in the training data; ids may be None
    labels, distances, vote_shares : (k,)
    columns : (n_columns,)
    relevances : (n_columns,) adding up to 1
    contributions : (k, n_columns) what each column adds to each distance
    asked : (n_columns,) the row's own values
    values : (k, n_columns) the neighbours' values, or None
    """

    prediction: Any
    share: float
    rows: NDArray[np.int64]
    ids: NDArray[Any] | None
    labels: NDArray[Any]
    distances: Floats
    vote_shares: Floats
    columns: list[str]
    relevances: Floats
    contributions: Floats
    asked: list[Any]
    values: NDArray[Any] | None

    @classmethod
    def of(cls, trained: Trained, rows: pd.DataFrame | NDArray[Any]) -> Account:
        """Explain one prepared row."""
        import pandas as pd

        explanation = trained.classifier.explain(trained.features(rows))
        points = explanation.neighbors[0]
        columns, groups = _groups(trained.origins())

        def gather(parts: Floats) -> Floats:
            """Sums over the features of each column: (n_columns,)."""
            return np.bincount(groups, parts, len(columns)).astype(np.float64)

        relevances = gather(explanation.relevances[0])
        total = relevances.sum()
        order = np.argsort(-relevances, kind="stable")
        contributions = np.stack([gather(part) for part in explanation.contributions[0]])
        names = [columns[place] for place in order]
        values = trained.training_values(points)
        if isinstance(rows, pd.DataFrame):
            asked = rows
        else:  # a pipeline may make other columns than it was given
            same = rows.shape[1] == len(columns)
            asked = pd.DataFrame(rows, columns=columns if same else None)
        return cls(
            prediction=explanation.predictions[0],
            share=float(explanation.probabilities[0].max()),
            rows=trained.row_numbers(points),
            ids=trained.ids(points),
            labels=explanation.neighbor_labels[0],
            distances=explanation.distances[0],
            vote_shares=explanation.vote_shares[0],
            columns=names,
            relevances=relevances[order] / total if total > 0 else relevances[order],
            contributions=contributions[:, order],
            asked=[asked[name].iloc[0] if name in asked else None for name in names],
            values=None if values is None else values[names].to_numpy(dtype=object),
        )

    @property
    def distance_parts(self) -> Floats:
        """The part of the distances that each column makes, by votes: (n_columns,)."""
        total = self.contributions.sum(axis=1, keepdims=True)
        parts = np.divide(self.contributions, total, out=np.zeros_like(self.contributions), where=total > 0)
        return self.vote_shares @ parts

    def to_frame(self, row: int) -> pd.DataFrame:
        """One line per neighbour and column."""
        import pandas as pd

        k, n_columns = self.contributions.shape
        table: dict[str, Any] = {
            "row": row,
            "prediction": self.prediction,
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
            "contribution": self.contributions.ravel(),
            # As text, for numbers and words stand in one column.
            "value": [value_text(value) for value in self.asked] * k,
        }
        if self.values is not None:
            table["neighbor_value"] = [value_text(value) for value in self.values.ravel()]
        return pd.DataFrame(table)


def value_text(value: Any) -> str:
    if value is None or value != value:
        return "missing"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _groups(origins: list[str]) -> tuple[list[str], NDArray[np.int64]]:
    """The distinct columns in their order, and the place of each feature's column among them."""
    columns = list(dict.fromkeys(origins))
    return columns, np.array([columns.index(name) for name in origins])

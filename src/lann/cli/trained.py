"""A saved model as the commands see it: in the user's columns and rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann.cli.columns import NUMERIC, TEXT, as_text, is_numeric, prepare

if TYPE_CHECKING:
    import pandas as pd


class Trained:
    """A model from `lann fit`, or any other that was saved with `lann.save`.

    `lann fit` leaves four attributes on the pipeline: `target_` (the column's name), `training_rows_` (row
    numbers in the file), `training_ids_` (values of the column named by --id, or None) and `training_gaps_`
    (pairs of a training point and a column that was empty there).
    """

    def __init__(self, model: Any) -> None:
        from sklearn.pipeline import Pipeline

        from lann.classifier import LANNClassifier

        self.model = model
        self.notes: list[str] = []
        self.steps = model[:-1] if isinstance(model, Pipeline) else None
        self.classifier: LANNClassifier = model if self.steps is None else model[-1]
        if not isinstance(self.classifier, LANNClassifier):
            kind = type(self.classifier).__name__
            raise ValueError(f"The model is a {kind}, which does not predict; give one of lann fit.")
        parts = getattr(model, "named_steps", {}).get("columns")
        # {"numeric": columns, "text": columns}, if the model is from `lann fit`
        self._kinds: dict[str, list[str]] | None = None
        if parts is not None and hasattr(model, "training_rows_"):
            self._parts = parts.named_transformers_
            kinds = {kind: names for kind, _, names in parts.transformers_}
            self._kinds = {kind: list(kinds.get(kind, [])) for kind in (NUMERIC, TEXT)}

    @classmethod
    def load(cls, path: Path) -> Trained:
        from sklearn.exceptions import InconsistentVersionWarning

        from lann.persist import load

        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            trained = cls(load(path))
        for other in [w.message for w in caught if isinstance(w.message, InconsistentVersionWarning)][:1]:
            trained.notes.append(
                f"The model was written with scikit-learn {other.original_sklearn_version}, and this is "
                f"{other.current_sklearn_version}; should something look wrong, fit it again."
            )
        return trained

    def prepare(self, frame: pd.DataFrame, source: str) -> pd.DataFrame | NDArray[Any]:
        """Rows as the model takes them."""
        if self._kinds is not None:
            return prepare(frame, self._kinds[NUMERIC], self._kinds[TEXT], source)
        names = getattr(self.model, "feature_names_in_", None)
        if names is None:
            if len(frame.columns) != self.model.n_features_in_:
                raise ValueError(
                    f"{source} has {len(frame.columns)} columns, and the model, which knows no names, takes "
                    f"{self.model.n_features_in_}."
                )
            return prepare(frame, list(frame.columns), [], source).to_numpy()
        known = [name for name in map(str, names) if name in frame]
        text = [name for name in known if self.steps is not None and not is_numeric(frame[name])]
        prepare(frame, [], [str(name) for name in names], source)  # all there?
        return prepare(frame, [name for name in known if name not in text], text, source)[known]

    def features(self, rows: pd.DataFrame | NDArray[Any]) -> Any:
        """What the classifier sees of prepared rows."""
        return rows if self.steps is None else self.steps.transform(rows)

    def unseen_values(self, rows: pd.DataFrame) -> dict[str, list[str]]:
        """Values of text columns that training did not have, by column."""
        unseen = {}
        if self._kinds is not None and self._kinds[TEXT]:
            categories = self._parts[TEXT].named_steps["one_hot"].categories_
            for name, known in zip(self._kinds[TEXT], categories, strict=True):
                if new := sorted(set(rows[name].dropna()) - set(known)):
                    unseen[name] = new
        return unseen

    def origins(self) -> list[str]:
        """The user's column behind each feature of the classifier."""
        if self._kinds is not None:
            origins = list(self._kinds[NUMERIC])
            if text := self._kinds[TEXT]:
                one_hot = self._parts[TEXT].named_steps["one_hot"]
                # Named by place, "0_red": the columns' own names may hold underscores.
                outputs = one_hot.get_feature_names_out([str(place) for place in range(len(text))])
                origins += [text[int(name.split("_", 1)[0])] for name in outputs]
            return origins
        names = getattr(self.classifier, "feature_names_in_", None)
        if names is None and self.steps is not None and hasattr(self.steps, "get_feature_names_out"):
            names = self.steps.get_feature_names_out()
        if names is None:
            return [f"x{place}" for place in range(self.classifier.n_features_in_)]
        return list(names)

    def training_values(self, points: NDArray[np.int64]) -> pd.DataFrame | None:
        """The values of training points in the user's columns, None where there was none.

        None at all if the values are unknown.
        """
        import pandas as pd

        features = self.classifier._model.levels.X[points]
        if self._kinds is None:
            if self.steps is not None:
                return None
            return pd.DataFrame(features, columns=self.origins())
        numeric, text = self._kinds[NUMERIC], self._kinds[TEXT]
        values = pd.DataFrame(index=range(len(points)))
        if numeric:
            scaled = features[:, : len(numeric)]
            values[numeric] = self._parts[NUMERIC].named_steps["scale"].inverse_transform(scaled)
        if text:
            one_hot = self._parts[TEXT].named_steps["one_hot"]
            decoded = one_hot.inverse_transform(features[:, len(numeric) :])
            values[text] = np.where(decoded == "infrequent_sklearn", "(rare)", decoded)
        return values.mask(self._gaps(points))

    def _gaps(self, points: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which values of training points were filled in: (n_points, n_columns)."""
        assert self._kinds is not None
        filled = np.zeros((len(points), sum(map(len, self._kinds.values()))), dtype=bool)
        gaps = getattr(self.model, "training_gaps_", np.empty((0, 2), dtype=np.int64))
        for point, column in gaps[np.isin(gaps[:, 0], points)]:
            filled[points == point, column] = True
        return filled

    def row_numbers(self, points: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where training points stand in the file they came from."""
        rows = getattr(self.model, "training_rows_", None)
        return points if rows is None else rows[points]

    def ids(self, points: NDArray[np.int64]) -> NDArray[Any] | None:
        ids = getattr(self.model, "training_ids_", None)
        return None if ids is None else ids[points]


def unseen_notes(unseen: dict[str, list[str]]) -> list[str]:
    """A sentence for each column with values that training did not have."""
    notes = []
    for name, values in unseen.items():
        shown = ", ".join(map(repr, values[:3])) + (f" and {len(values) - 3} more" if len(values) > 3 else "")
        notes.append(f"Column {name!r} has values that training did not have: {shown}.")
    return notes


def id_column(frame: pd.DataFrame, name: str, source: str) -> NDArray[Any]:
    """The cells of the column that names the rows, as text; "" where missing."""
    if name not in frame:
        raise ValueError(f"{source} has no column {name!r} for --id.")
    return as_text(frame[name]).fillna("").to_numpy(dtype=str)

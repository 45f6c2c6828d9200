"""What the colors of an embedding show: classes, confidence, errors or relevances."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Indices
from lann.explain import LEAST_RELEVANCE
from lann.plot._embedding.legend import NO_FEATURE, OTHER_FEATURES
from lann.plot._embedding.rows import EmbeddedRows
from lann.plot._ranking import largest_first
from lann.plot._text import shorten

COLORS = ("class", "confidence", "error", "dominant")
# The number of features with a color of their own, if rows are colored by their most relevant feature.
N_NAMED_FEATURES = 6


def coloring_options(embedded: EmbeddedRows, color: Any, data_name: str = "") -> dict[str, Any]:
    """Return the keyword arguments of EmbeddingDisplay for a choice of colors, including a title.

    Parameters
    ----------
    embedded : EmbeddedRows
    color : {"class", "confidence", "error", "dominant"}, feature name or feature index
    data_name : str, default=""
        The name of the data, for the title.
    """
    number = _describe_rows(embedded)
    rows = f"{data_name}: {number}" if data_name else number
    if color == "class":
        return {"title": f"Embedding: similar rows are near each other\n{rows}"}
    if color == "confidence":
        return {
            "values": embedded.votes("color='confidence'").probabilities.max(axis=1),
            "value_label": "probability of the predicted class",
            "emphasize_low": True,
            "title": f"Probability of the prediction\n{rows}",
        }
    if color == "error":
        misclassified = _misclassified(embedded)
        title = f"{misclassified.sum()} of {len(misclassified)} rows are misclassified\n{rows}"
        return {"misclassified": misclassified, "title": title}
    if color == "dominant":
        features, names = _dominant_features(embedded)
        title = f"Most relevant feature of each row\n{rows}"
        return {"values": features, "value_names": names, "title": title}
    return _relevance_options(embedded, color, rows)


def _describe_rows(embedded: EmbeddedRows) -> str:
    training = f"{len(embedded.training_coordinates)} training rows"
    if embedded.new_coordinates is None:
        return training
    return f"{len(embedded.new_coordinates)} new rows among {training}"


def _misclassified(embedded: EmbeddedRows) -> NDArray[np.bool_]:
    """Return whether the vote on each row is for another class, (n_shown,)."""
    votes = embedded.votes("color='error'")
    if not embedded.labels_are_given:
        raise ValueError("color='error' needs the labels of X; got y=None.")
    return votes.probabilities.argmax(axis=1) != embedded.classifier_rows("color='error'").labels


def _dominant_features(embedded: EmbeddedRows) -> tuple[Indices, list[str]]:
    """Return the most relevant feature of each row, as an index into the names of the most frequent ones.

    All features that are not among the most frequent ones share a name, and so do all rows to which no single
    feature is relevant.
    """
    rows = embedded.classifier_rows("color='dominant'")
    relevances = rows.explain().relevances
    dominant, is_clear = relevances.argmax(axis=1), relevances.max(axis=1) >= LEAST_RELEVANCE
    counts = np.bincount(dominant[is_clear], minlength=len(rows.feature_names))
    n_present = int((counts > 0).sum())
    named = largest_first(counts.astype(np.float64), min(N_NAMED_FEATURES, n_present))
    indices = np.full(len(counts), len(named))
    indices[named] = np.arange(len(named))
    names = [str(rows.feature_names[feature]) for feature in named]
    names += [OTHER_FEATURES] * (n_present > len(named))
    values = np.where(is_clear, indices[dominant], len(names))
    return values, names + [NO_FEATURE] * (not is_clear.all())


def _relevance_options(embedded: EmbeddedRows, color: Any, rows: str) -> dict[str, Any]:
    shown = embedded.classifier_rows(f"color={color!r}")
    feature = _feature_index(color, shown.feature_names)
    name = shorten(shown.feature_names[feature], 24)
    return {
        "values": shown.explain().relevances[:, feature],
        "value_label": f"share of the vote that depends on {name}",
        "title": f"Relevance of {name}\n{rows}",
    }


def _feature_index(color: Any, feature_names: NDArray[Any]) -> int:
    names = list(feature_names)
    if isinstance(color, str) and color in names:
        return names.index(color)
    is_integer = isinstance(color, int | np.integer) and not isinstance(color, bool)
    if is_integer and 0 <= color < len(names):
        return int(color)
    raise ValueError(
        f"color must be one of {', '.join(map(repr, COLORS))}, the name of a feature, or its index from 0 "
        f"to {len(names) - 1}; got {color!r}."
    )

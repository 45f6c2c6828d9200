"""The panels of a comparison of embeddings, as parameters of EmbeddingDisplay."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lann._validation import OneOf, validate
from lann.plot._rows import check_class_names


def comparison_options(comparison: Any, *, subset: str, class_names: ArrayLike | None) -> dict[str, Any]:
    """Return the keyword arguments of EmbeddingDisplay for a comparison.

    Parameters
    ----------
    comparison : object with the attribute `panels`
        Every panel has a `name`, `coordinates`, `labels`, `accuracy` and `held_out_accuracy`, and for
        ``subset="held_out"`` also `held_out_coordinates` and `held_out_labels`.
    subset : {"training", "held_out"}
    class_names : array-like of shape (n_classes,) or None
    """
    validate("subset", subset, OneOf("training", "held_out"))
    panels = list(comparison.panels)
    if not panels:
        raise ValueError("comparison must have at least one panel; got none.")
    labels = [np.asarray(panel.labels) for panel in panels]
    options: dict[str, Any] = {
        "coordinates": [panel.coordinates for panel in panels],
        "names": [panel.name for panel in panels],
        "notes": [format_accuracies(panel.accuracy, panel.held_out_accuracy) for panel in panels],
    }
    new_labels: list[Any] = []
    if subset == "held_out":
        if any(panel.held_out_coordinates is None for panel in panels):
            raise ValueError("subset='held_out' needs held-out rows in every panel of the comparison.")
        options["new_coordinates"] = [panel.held_out_coordinates for panel in panels]
        new_labels = [np.asarray(panel.held_out_labels) for panel in panels]
    classes = np.unique(np.concatenate([*labels, *new_labels]))
    options["labels"] = [np.searchsorted(classes, panel) for panel in labels]
    if new_labels:
        options["new_labels"] = [np.searchsorted(classes, panel) for panel in new_labels]
    options["class_names"] = check_class_names(classes, class_names)
    return options


def format_accuracies(leave_one_out: float | None, held_out: float | None) -> str:
    """Format the accuracies of an embedding, without those that are None.

    >>> format_accuracies(0.957, 1.0)
    'leave-one-out .96, held-out 1.00'
    """
    accuracies = (("leave-one-out", leave_one_out), ("held-out", held_out))
    texts = [
        f"{name} {f'{accuracy:.2f}'.removeprefix('0')}"
        for name, accuracy in accuracies
        if accuracy is not None
    ]
    return ", ".join(texts)

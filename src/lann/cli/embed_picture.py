"""An embedding as a picture in a file."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lann._files import write_atomically

if TYPE_CHECKING:
    from lann.cli.embed_summary import Summary
    from lann.cli.embedded import Embedded

DOTS_PER_INCH = 200


def write_picture(path: Path, embedded: Embedded, summary: Summary, *, title: str) -> None:
    """Write the picture, whole or not at all; unseen rows without a label have the class predicted."""
    import matplotlib.pyplot as plt

    from lann.plot import EmbeddingDisplay

    n_train = embedded.n_train
    shown = np.where(embedded.labels < 0, embedded.predictions, embedded.labels)
    display = EmbeddingDisplay(
        embedded.places[:n_train],
        shown[:n_train],
        new_coordinates=embedded.places[n_train:] if embedded.n_new else None,
        new_labels=shown[n_train:] if embedded.n_new else None,
        class_names=embedded.classes,
        notes=[_accuracies(summary)],
        title=title,
    ).plot()
    buffer = io.BytesIO()
    try:
        kind = path.suffix[1:].lower()
        display.figure_.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, bbox_inches="tight")
    finally:
        plt.close(display.figure_)
    write_atomically(path, buffer.getvalue())


def _accuracies(summary: Summary) -> str:
    """What the figure is worth, in a line below it."""
    whole = summary.whole
    said = f"re-classified by leave-one-out {whole.training.in_picture:.3f}"
    return said if whole.unseen is None else f"{said}, unseen {whole.unseen.in_picture:.3f}"

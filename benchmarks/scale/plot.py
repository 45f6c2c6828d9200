"""Draw time and memory by the number of rows: `python -m benchmarks.scale.plot RECORDS.json IMAGE.png`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.scale.growth import exponent
from benchmarks.scale.methods import BOOSTING, BRUTE, FLAT, HNSW, LANN, LIGHTGBM, METHODS, TREE
from benchmarks.scale.plan import ROWS

YARDSTICK = "faiss: graph and 50 neighbors of all"
# Colors that differ for all kinds of color vision (Okabe and Ito), and a marker for each method.
STYLES = {
    LANN: ("#D55E00", "o"),
    YARDSTICK: ("#000000", "s"),
    HNSW: ("#56B4E9", "s"),
    FLAT: ("#0072B2", "v"),
    BRUTE: ("#CC79A7", "^"),
    TREE: ("#999999", "D"),
    BOOSTING: ("#009E73", "P"),
    LIGHTGBM: ("#E69F00", "X"),
}
PANELS = {
    "fit, seconds": (LANN, YARDSTICK, HNSW, TREE, BOOSTING, LIGHTGBM),
    "predict 10 000 rows, seconds": (LANN, HNSW, FLAT, BRUTE, TREE, BOOSTING, LIGHTGBM),
    "peak memory of the fit\nabove the data, GB": (LANN, HNSW, FLAT, TREE, BOOSTING, LIGHTGBM),
}
N_PREDICTED = 10_000

Series = dict[tuple[str, int], dict[int, float]]
"""By method and number of features: a figure by the number of rows."""


def read_series(records: list[Mapping[str, Any]]) -> dict[str, Series]:
    """Return the figures of every panel from the JSON records of a run."""
    found: dict[str, Series] = {panel: {} for panel in PANELS}
    fit, predict, memory = PANELS

    def add(panel: str, method: str, shape: tuple[int, int], value: float) -> None:
        found[panel].setdefault((method, shape[1]), {})[shape[0]] = value

    for record in records:
        if record.get("kind") != "figure" or record["part"] != ROWS:
            continue
        scores = {name: score["mean"] for name, score in record["scores"].items()}
        method, shape = record["method"], (int(scores["n_rows"]), int(scores["n_features"]))
        add(fit, method, shape, scores["fit_seconds"])
        if "list_seconds" in scores:
            add(fit, YARDSTICK, shape, scores["fit_seconds"] + scores["list_seconds"])
        add(predict, method, shape, N_PREDICTED / scores["rows_per_second"])
        add(memory, method, shape, scores["above_gb"])
    return {
        panel: {key: dict(sorted(values.items())) for key, values in series.items()}
        for panel, series in found.items()
    }


def draw(records: list[Mapping[str, Any]], image: Path) -> None:
    """Draw a panel for each figure and number of features, with both axes logarithmic."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    panels = read_series(records)
    features = sorted({n for series in panels.values() for _, n in series})
    figure, axes = plt.subplots(
        len(panels),
        len(features),
        figsize=(1 + 4.6 * len(features), 3.7 * len(panels)),
        sharex=True,
        sharey="row",
        squeeze=False,
        layout="constrained",
    )
    for row, (panel, series) in zip(axes, panels.items(), strict=True):
        for ax, n_features in zip(row, features, strict=True):
            for method in PANELS[panel]:
                values = series.get((method, n_features))
                if values:
                    color, marker = STYLES[method]
                    ax.plot(
                        list(values),
                        list(values.values()),
                        color=color,
                        marker=marker,
                        markersize=5,
                        linewidth=2.2 if method == LANN else 1.2,
                        linestyle="--" if method == YARDSTICK else "-",
                        zorder=3 if method == LANN else 2,
                        label=_label(method, exponent(values)),
                    )
            ax.set(xscale="log", yscale="log")
            ax.grid(True, which="major", color="#dddddd", linewidth=0.6)
            ax.spines[["top", "right"]].set_visible(False)
            ax.legend(fontsize=7, frameon=False, loc="upper left")
        # Room for the legends above the lines; the panels of a row share their axis.
        low, high = row[0].get_ylim()
        row[0].set_ylim(low, high * (high / low) ** 0.4)
        row[0].set_ylabel(panel)
    for ax, n_features in zip(axes[0], features, strict=True):
        ax.set_title(f"{n_features} features", fontsize=10)
    for ax in axes[-1]:
        ax.set_xlabel("training rows m")
    figure.savefig(image, dpi=150)
    plt.close(figure)


def _label(method: str, power: float | None) -> str:
    label = METHODS[method].label if method in METHODS else method
    return label if power is None else f"{label}, $m^{{{power:.2f}}}$"


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))

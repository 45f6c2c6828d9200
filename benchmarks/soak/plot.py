"""Draw memory and threads over a run: `python -m benchmarks.soak.plot RECORDS.json IMAGE.png`."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

PANELS = {
    "memory, MB": {"memory": "after giving back", "resident": "with what the allocator keeps"},
    "number": {"threads": "threads", "python_threads": "threads of Python", "open_files": "open files"},
}
# Colors that differ for all kinds of color vision (Okabe and Ito).
COLORS = ("#D55E00", "#0072B2", "#009E73")


def draw(records: list[Mapping[str, Any]], path: Path) -> None:
    """Draw the rounds among the JSON records of a run; raise ValueError if there is none."""
    from matplotlib import pyplot as plt

    rounds = [record for record in records if record.get("kind") == "round"]
    if not rounds:
        raise ValueError("The records have no rounds of `python -m benchmarks soak`.")
    figure, axes = plt.subplots(2, 1, figsize=(7, 5), sharex=True, layout="constrained")
    for ax, (label, series) in zip(axes, PANELS.items(), strict=True):
        for color, (name, words) in zip(COLORS, series.items(), strict=False):
            points = [(r["round"] + 1, r[name]) for r in rounds if r[name] is not None]
            if points:
                ax.plot(*zip(*points, strict=True), color=color, label=words)
        ax.set(ylabel=label, ylim=(0, None))
        ax.legend(frameon=False)
    axes[-1].set_xlabel(f"round, {sum(r['n_calls'] for r in rounds)} calls in all")
    figure.savefig(path, dpi=120)
    plt.close(figure)


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text("utf-8")), Path(sys.argv[2]))

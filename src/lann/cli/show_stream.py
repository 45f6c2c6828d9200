"""What `lann stream` shows: a live view in a terminal, lines elsewhere, and a table at the end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lann._format import counted, percent

if TYPE_CHECKING:
    from rich.console import Console, Group

    from lann.streams import PrequentialEvaluation, StreamBatch
    from lann.tables import StreamRun

SCORES = {
    "accuracy": "accuracy",
    "no_change_accuracy": "… of the label before",
    "majority_accuracy": "… of the most frequent label",
    "kappa": "kappa",
    "kappa_temporal": "kappa-temporal",
    "log_loss": "log-loss",
}
BLOCKS = "▁▂▃▄▅▆▇█"
N_BLOCKS = 40
N_DRIFTS = 5
SECONDS_BETWEEN_VIEWS = 0.25


class StreamView:
    """Shows how far a run is.

    In a terminal it is a view that is drawn again and again; elsewhere it is a line every so many rows.

    Parameters
    ----------
    run : StreamRun
    console : Console
        For results.
    every : int
        Number of rows between lines.
    """

    def __init__(self, run: StreamRun, console: Console, every: int) -> None:
        self.run, self.console, self.every = run, console, every
        self._start, self._first_row = 0.0, 0
        self._last_line = run.evaluation.n_rows // every
        self._last_view = 0.0
        self._live: Any = None

    def __enter__(self) -> StreamView:
        if self.console.is_terminal and not self.console.quiet:
            from rich.live import Live

            self._live = Live(
                self.table(), console=self.console, auto_refresh=False, transient=True
            ).__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.__exit__(None, None, None)

    @property
    def rows_per_second(self) -> float | None:
        """Rows after the first batch of this process, which compiles kernels; None if there are none."""
        n_rows = self.run.evaluation.n_rows - self._first_row
        return n_rows / max(time.perf_counter() - self._start, 1e-9) if self._start and n_rows else None

    def on_batch(self, batch: StreamBatch) -> None:
        """Show the progress, if it is time to."""
        evaluation = self.run.evaluation
        if not self._start:
            self._start, self._first_row = time.perf_counter(), evaluation.n_rows
        if self._live is not None:
            now = time.perf_counter()
            if now - self._last_view >= SECONDS_BETWEEN_VIEWS:
                self._last_view = now
                self._live.update(self.table(), refresh=True)
        elif evaluation.n_rows // self.every > self._last_line:
            self._last_line = evaluation.n_rows // self.every
            self.console.print(progress_line(evaluation, self.rows_per_second), soft_wrap=True)

    def on_checkpoint(self) -> None:
        """Say that a checkpoint was saved, where there is no live view."""
        if self._live is None:
            self.console.print(f"Checkpoint after {counted(self.run.n_read, 'row')}", soft_wrap=True)
            self.console.file.flush()

    def table(self) -> Group:
        """Return the view."""
        return overview(self.run.evaluation, self.rows_per_second)


def progress_line(evaluation: PrequentialEvaluation, rows_per_second: float | None) -> str:
    """Return the progress in one line."""
    scores, window = evaluation.scores, evaluation.window_scores
    return (
        f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)} ({percent(window.accuracy, 1)} now)"
        f", kappa-temporal {scores.kappa_temporal:.3f}, log-loss {scores.log_loss:.3f}, "
        f"{counted(evaluation.n_drifts, 'drift')}{_rate(rows_per_second)}"
    )


def _rate(rows_per_second: float | None) -> str:
    return "" if rows_per_second is None else f", {rows_per_second:,.0f} rows/s"


def overview(evaluation: PrequentialEvaluation, rows_per_second: float | None) -> Group:
    """Return the scores over all rows and over the last ones, the sizes of the memories, and drifts."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    scores, window = evaluation.scores, evaluation.window_scores
    table = Table(title=f"{scores.n_rows:,} rows{_rate(rows_per_second)}", title_justify="left")
    table.add_column("")
    table.add_column("all rows", justify="right")
    table.add_column(f"last {window.n_rows:,}", justify="right")
    for field, name in SCORES.items():
        values = [getattr(one, field) for one in (scores, window)]
        if not scores.n_rows:
            table.add_row(name, "–", "–")
        elif "accuracy" in field:
            table.add_row(name, *(percent(value, 1) for value in values))
        else:
            table.add_row(name, *(f"{value:.3f}" for value in values))
    return Group(table, *(Text(line) for line in _lines(evaluation)))


def _lines(evaluation: PrequentialEvaluation) -> Iterator[str]:
    """Yield what is below the table: accuracy over time, memories, drifts."""
    curve = evaluation.curve
    if not len(curve.rows):
        return
    accuracies = curve.accuracy.tolist()
    low, high = percent(min(accuracies), 0), percent(max(accuracies), 0)
    yield f"Accuracy over time, from {low} to {high}: {sparkline(accuracies)}"
    short, long = curve.short_term_size[-1], curve.long_term_size[-1]
    if short == short:  # not NaN
        yield f"Rows in memory: {short:,.0f} short-term, {long:,.0f} long-term"
    if evaluation.n_drifts:
        recent = ", ".join(f"{row:,}" for row in evaluation.drifts[-N_DRIFTS:])
        yield f"{counted(evaluation.n_drifts, 'drift')}, the last at {recent}"


def sparkline(values: Sequence[float], n_blocks: int = N_BLOCKS) -> str:
    """Return a line of blocks, from the lowest to the highest of the values.

    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    if not values:
        return ""
    step = max(-(-len(values) // n_blocks), 1)
    means = [sum(values[i : i + step]) / len(values[i : i + step]) for i in range(0, len(values), step)]
    low, high = min(means), max(means)
    if high - low < 1e-12:
        return BLOCKS[-1] * len(means)
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * (mean - low) / (high - low))] for mean in means)

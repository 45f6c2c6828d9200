"""An evaluation as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lann import _texts
from lann._format import counted, figure, p_value_text, percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from lann.report import Evaluation, MethodScores, Score

SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
    "brier": "Brier score",
}
# With more classes, those with the lowest recall are shown.
MOST_CLASSES = 12
MOST_PAIRS, MOST_MISTAKES = 3, 3
# Slices that are worse beyond chance, and others.
MOST_SLICES, FEW_SLICES = 8, 3


def show_evaluation(evaluation: Evaluation, console: Console) -> None:
    """Print an evaluation in brief."""
    show_scores(evaluation, console)
    console.print(_classes(evaluation))
    if pairs := evaluation.confused_pairs(MOST_PAIRS):
        console.print(f"Confused most often: {'; '.join(pairs)}", soft_wrap=True)
    console.print()
    console.print("Are the probabilities right?", style="bold")
    found = evaluation.reliability
    sentences = [*found.sentences, found.share_of_mistakes, found.verdict]
    console.print(" ".join(sentence for sentence in sentences if sentence))
    console.print()
    console.print("If the least certain predictions are rejected", style="bold")
    console.print(f"{evaluation.rejection.sentence} {evaluation.rejection.areas}")
    console.print()
    console.print("Where it is worst", style="bold")
    console.print(evaluation.slice_verdict)
    if evaluation.worst_slices:
        console.print(_slices(evaluation))
    if evaluation.mistakes:
        _show_mistakes(evaluation, console)


def show_scores(evaluation: Evaluation, console: Console) -> None:
    """Print the summary and the scores."""
    console.print(evaluation.summary)
    console.print(_scores(evaluation))
    for method in (evaluation.audit.cross_validation or [])[:1]:
        if method.accuracy is not None:
            console.print(
                f"The {method.n_folds}-fold cross-validation before the fit had an accuracy of "
                f"{method.accuracy:.3f} ± {method.accuracy_std:.3f}."
            )
    console.print(_texts.INTERVALS, style="dim")


def _scores(evaluation: Evaluation) -> Table:
    """Return a line for each score: that of the model, those of others, and the difference to kNN."""
    from rich.table import Table

    model, *others = evaluation.methods
    table = Table(
        title="Scores",
        title_justify="left",
        title_style="bold",
        caption=_texts.PLAIN_KNN if others else None,
        caption_justify="left",
    )
    table.add_column("score")
    table.add_column(model.method, justify="right", style="bold")
    table.add_column("95% interval", justify="right", no_wrap=True)
    for method in others:
        table.add_column(method.method, justify="right")
    if others:
        table.add_column(f"{model.method} − {others[0].method}", justify="right", no_wrap=True)
    for score, name in SCORES.items():
        found = model.scores[score]
        values = [figure(method.scores[score].value) for method in others]
        differences = [_difference(method, score) for method in others[:1]]
        table.add_row(name, figure(found.value), _interval(found), *values, *differences)
    return table


def _interval(score: Score, *, signed: bool = False) -> str:
    if score.low != score.low:
        return ""
    return f"{figure(score.low, signed=signed)} to {figure(score.high, signed=signed)}"


def _difference(method: MethodScores, score: str) -> Text:
    """Return how much better or worse the model is than a method; in color if that is beyond chance."""
    from rich.text import Text

    style = "blue" if method.is_clearly_worse(score) else ""
    style = "dark_orange" if method.is_clearly_better(score) else style
    difference = method.differences[score]
    return Text(_interval(difference, signed=True) or figure(difference.value, signed=True), style=style)


def _classes(evaluation: Evaluation) -> Table:
    from rich.table import Table

    found = evaluation.by_class
    if len(found) > MOST_CLASSES:
        found = sorted(found, key=lambda own: (own.n_rows == 0, own.recall.value))[:MOST_CLASSES]
    n_more = len(evaluation.by_class) - len(found)
    table = Table(
        title="By class",
        title_justify="left",
        title_style="bold",
        caption=f"and {counted(n_more, 'more class', 'more classes')} with higher recall" if n_more else None,
        caption_justify="left",
    )
    table.add_column("class", overflow="fold")
    for name in ("rows", "precision", "95% interval", "recall", "95% interval", "F1"):
        table.add_column(name, justify="right", no_wrap=True)
    for own in found:
        table.add_row(
            str(own.label),
            f"{own.n_rows:,}",
            figure(own.precision.value),
            _share_interval(own.precision),
            figure(own.recall.value),
            _share_interval(own.recall),
            figure(own.f1),
        )
    return table


def _share_interval(score: Score) -> str:
    return "" if score.low != score.low else f"{percent(score.low)} to {percent(score.high)}"


def _slices(evaluation: Evaluation) -> Table:
    """Return the slices that are worse beyond chance; if there are none, some that may be bad luck."""
    from rich.table import Table

    worse = [part for part in evaluation.worst_slices if part.is_worse][:MOST_SLICES]
    shown = worse or evaluation.worst_slices[:FEW_SLICES]
    n_more = len(evaluation.worst_slices) - len(shown)
    luck = "" if worse else "these may be bad luck; "
    table = Table(
        caption=f"{luck}p-values are corrected for the number of slices"
        + (f"; {counted(n_more, 'more slice')}: see --html or -o" if n_more else ""),
        caption_justify="left",
    )
    table.add_column("slice", overflow="fold")
    for name in ("rows", "accuracy", "elsewhere", "expected", "p-value"):
        table.add_column(name, justify="right", no_wrap=True)
    for part in shown:
        table.add_row(
            part.name,
            f"{part.n_rows:,}",
            figure(part.accuracy.value),
            figure(part.accuracy_elsewhere),
            figure(part.mean_probability),
            p_value_text(part.p_value),
            style="bold" if part.is_worse else "",
        )
    return table


def _show_mistakes(evaluation: Evaluation, console: Console) -> None:
    shown = evaluation.mistakes[:MOST_MISTAKES]
    console.print()
    console.print(f"Most confident of {counted(evaluation.n_wrong, 'mistake')}", style="bold")
    for mistake in shown:
        said = f"predicted {mistake.prediction} with {percent(mistake.probability)}, label {mistake.label}"
        why = "" if mistake.sentence is None else f": {mistake.sentence}"
        console.print(f"{mistake.title}, {said}{why}")

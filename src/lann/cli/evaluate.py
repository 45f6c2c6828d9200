"""`lann evaluate`: how well a model predicts rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from lann._markup import check_page_path
from lann._markup import texts as _texts
from lann._support.format import counted, figure, p_value_text, percent
from lann.cli import options as opt
from lann.cli.output import collected_notes, make_table, more, print_document, results, show_notes, styled

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

Page = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report, a page for the browser, and print the scores."),
]
Target = Annotated[str | None, opt.column_option("The column with the labels.", default="that of the model")]


def evaluate(
    model: opt.ModelFile,
    data: Annotated[Path, opt.file_argument(f"The test table, with labels: {opt.FORMATS}")],
    html: Page = None,
    output: Annotated[
        Path | None, opt.output_option(f"Write all figures to a table: {opt.TABLE_FORMATS}")
    ] = None,
    target: Target = None,
    sample_weight: opt.SampleWeight = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
) -> None:
    """Evaluate a model on rows with labels.

    Prints accuracy, balanced accuracy, AUC, log-loss and Brier score with 95% intervals, beside plain kNN and
    the largest class; precision and recall of the classes; how often predictions are correct by their
    probability; the columns and values where the model is worst; and the most confident mistakes. Use rows
    that the model was not fitted to.
    """
    from lann.report import SourceFile, save_evaluation
    from lann.report import evaluate as evaluate_model
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    if html is not None:
        check_page_path(html)
    name = opt.table_name(data)
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        reading = opt.TableOptions(sep, decimal, encoding, sheet).read(data, notes)
    found = evaluate_model(
        fitted, reading.frame, target, sample_weight=sample_weight, random_state=seed, name=name
    ).with_files(model=model, data=SourceFile(name, reading.sha256 or ""), notes=notes)
    console = results(quiet=json)
    files = [path for path in (html, output) if path is not None]
    if html is not None:
        save_evaluation(html, found, title=f"{model.name} on {name}")
    if output is not None:
        write_table(found.to_frame(), output, guard_formulas=spreadsheet_safe)
    _show_scores(found, console)
    if html is None:
        _show_details(found, console)
    show_notes(found.notes, console)
    for path in files:
        ending = "; open it in a browser" if path == html else ""
        console.print(f"Wrote {path}{ending}", soft_wrap=True)
    if json:
        print_document(found.to_dict() | {"files": files})


def _show_scores(evaluation: Evaluation, console: Console) -> None:
    """Print the summary, and the scores of the model and others with the difference to kNN."""
    model, *others = evaluation.methods
    lines = []
    for score, name in SCORES.items():
        found = model.scores[score]
        values = [figure(method.scores[score].value) for method in others]
        differences = [_difference(method, score) for method in others[:1]]
        lines.append([name, styled(figure(found.value), "bold"), _interval(found), *values, *differences])
    columns = ["score", f">{model.method}", ">>95% interval", *[f">{method.method}" for method in others]]
    columns += [f">>{model.method} − {method.method}" for method in others[:1]]
    console.print(evaluation.summary)
    caption = _texts.PLAIN_KNN if others else None
    console.print(make_table(columns, lines, title="Scores", caption=caption))
    for method in (evaluation.audit.cross_validation or [])[:1]:
        if method.accuracy is not None:
            console.print(
                f"The {method.n_folds}-fold cross-validation before the fit had an accuracy of "
                f"{method.accuracy:.3f} ± {method.accuracy_std:.3f}."
            )
    console.print(_texts.INTERVALS, style="dim")


def _interval(score: Score, *, signed: bool = False) -> str:
    if score.low != score.low:
        return ""
    return f"{figure(score.low, signed=signed)} to {figure(score.high, signed=signed)}"


def _difference(method: MethodScores, score: str) -> Text:
    """Return how much better or worse the model is than a method; in color if that is beyond chance."""
    style = "blue" if method.is_clearly_worse(score) else ""
    style = "dark_orange" if method.is_clearly_better(score) else style
    difference = method.differences[score]
    return styled(_interval(difference, signed=True) or figure(difference.value, signed=True), style)


def _show_details(evaluation: Evaluation, console: Console) -> None:
    """Print classes, calibration, rejection, slices and mistakes, in brief."""
    console.print(_class_table(evaluation))
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
        console.print(_slice_table(evaluation))
    if evaluation.mistakes:
        console.print()
        console.print(f"Most confident of {counted(evaluation.n_wrong, 'mistake')}", style="bold")
    for mistake in evaluation.mistakes[:MOST_MISTAKES]:
        said = f"predicted {mistake.prediction} with {percent(mistake.probability)}, label {mistake.label}"
        why = "" if mistake.sentence is None else f": {mistake.sentence}"
        console.print(f"{mistake.title}, {said}{why}")


def _class_table(evaluation: Evaluation) -> Table:
    found = evaluation.by_class
    if len(found) > MOST_CLASSES:
        found = sorted(found, key=lambda own: (own.n_rows == 0, own.recall.value))[:MOST_CLASSES]
    n_more = len(evaluation.by_class) - len(found)
    lines = []
    for own in found:
        shares = []
        for score in (own.precision, own.recall):
            has_interval = score.low == score.low
            interval = f"{percent(score.low)} to {percent(score.high)}" if has_interval else ""
            shares += [figure(score.value), interval]
        lines.append([str(own.label), f"{own.n_rows:,}", *shares, figure(own.f1)])
    columns = [">>rows", ">>precision", ">>95% interval", ">>recall", ">>95% interval", ">>F1"]
    caption = more(n_more, "class", " with higher recall", "more classes")
    return make_table(["class", *columns], lines, title="By class", caption=caption)


def _slice_table(evaluation: Evaluation) -> Table:
    """Return the slices that are worse beyond chance; if there are none, some that may be bad luck."""
    worse = [part for part in evaluation.worst_slices if part.is_worse][:MOST_SLICES]
    shown = worse or evaluation.worst_slices[:FEW_SLICES]
    n_more = len(evaluation.worst_slices) - len(shown)
    caption = "" if worse else "these may be bad luck; "
    caption += "p-values are corrected for the number of slices"
    if n_more:
        caption += f"; {counted(n_more, 'more slice')}: see --html or -o"
    lines = []
    for part in shown:
        scores = [part.accuracy.value, part.accuracy_elsewhere, part.mean_probability]
        cells = [part.name, f"{part.n_rows:,}", *map(figure, scores), p_value_text(part.p_value)]
        lines.append([styled(cell, "bold" if part.is_worse else "") for cell in cells])
    columns = ["slice", ">>rows", ">>accuracy", ">>elsewhere", ">>expected", ">>p-value"]
    return make_table(columns, lines, caption=caption)

"""`lann evaluate`: how well a model predicts rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lann._markup import texts as _texts
from lann._support.format import counted, figure, p_value_text, percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more, styled

if TYPE_CHECKING:
    from rich.table import Table

    from lann.report import Evaluation, ValueEvaluation

# With more classes, those with the lowest recall are shown.
MOST_CLASSES = 12
MOST_PAIRS, MOST_MISTAKES = 3, 3
# Slices that are worse beyond chance, and others.
MOST_SLICES, FEW_SLICES = 8, 3
STYLES = {"better": "blue", "worse": "dark_orange", "": ""}

TestTable = Annotated[Path, opt.file_argument(f"The test table, with labels: {opt.FORMATS}")]
Page = Annotated[
    opt.File, opt.option("Write a report, a page for the browser, and print the scores.", metavar="FILE")
]
OutputFile = Annotated[opt.File, opt.output_option(f"Write all figures to a table: {opt.TABLE_FORMATS}")]
Target = Annotated[opt.Text, opt.column_option("The column with the labels.", default="that of the model")]


def evaluate(
    model: opt.ModelFile,
    data: TestTable,
    *,
    html: Page = None,
    output: OutputFile = None,
    target: Target = None,
    sample_weight: opt.SampleWeight = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
    seed: Annotated[int, opt.at_least(0, "Random seed of the intervals.")] = 0,
) -> None:
    """Evaluate a model on rows with labels, or with the numbers that it predicts.

    Prints accuracy, balanced accuracy, AUC, log-loss and Brier score with 95% intervals, beside plain kNN and
    the largest class; precision and recall of the classes; how often predictions are correct by their
    probability; the columns and values where the model is worst; and the most confident mistakes. Of numbers,
    it prints R², errors, CRPS and the coverage of intervals, beside plain kNN and the mean; errors by the
    predicted number; and where the model is worst. Use rows that the model was not fitted to.
    """
    from lann.report import SourceFile, evaluate_values, save_evaluation
    from lann.report import evaluate as evaluate_model
    from lann.tables import TableModel

    out = Output(json, table=output, page=html, guarded=spreadsheet_safe)
    name = opt.table_name(data)
    with out.progress() as step:
        step("Evaluating")
        fitted = TableModel.load(model)
        reading = tables.read(data, out.notes)
        if fitted.has_values:
            if html is not None or output is not None:
                raise ValueError("--html and -o are for classes; --json has all figures of numbers.")
            found = evaluate_values(fitted, reading.frame, target, sample_weight=sample_weight, name=name)
            _show_values(found, out)
            out.finish(model=model, table=name, **found.to_dict())
            return
        evaluation = evaluate_model(
            fitted, reading.frame, target, sample_weight=sample_weight, random_state=seed, name=name
        )
    data_file = SourceFile(name, reading.sha256)
    evaluation = evaluation.with_files(model=model, data=data_file, notes=out.notes)
    out.notes = list(evaluation.notes)
    _show_scores(evaluation, out)
    if html is None:
        _show_details(evaluation, out)
    else:
        save_evaluation(html, evaluation, title=f"{model.name} on {name}")
        out.wrote(html, "; open it in a browser")
    if output is not None:
        out.write_table(evaluation.to_frame(), output)
    out.finish(**evaluation.to_dict())


def _show_values(found: ValueEvaluation, out: Output) -> None:
    """Print how well numbers are predicted."""
    from lann.report import VALUE_SCORES

    out.print(found.summary, soft_wrap=False)
    methods, scores = list(found.scores), found.scores
    lines: list[list[Any]] = [
        [name, *(value_text(scores[m][key]) if scores[m][key] == scores[m][key] else "" for m in methods)]
        for key, name in VALUE_SCORES.items()
    ]
    columns = ["score", *(f">{method}" for method in methods)]
    out.print(make_table(columns, lines, title="Scores", caption=_texts.PLAIN_KNN))
    lines = [
        [f"{value_text(part.low)} to {value_text(part.high)}", f"{part.n_rows:,}", value_text(part.mae),
         value_text(part.mean_error), percent(part.coverage)]
        for part in found.by_part.itertuples()
    ]  # fmt: skip
    columns = ["predicted", ">rows", ">mean absolute error", ">mean error", ">within 90% interval"]
    out.print(make_table(columns, lines, title="By predicted value"))
    lines = [
        [
            f"{part.column}: {part.values}",
            f"{part.n_rows:,}",
            value_text(part.mae),
            value_text(part.elsewhere),
        ]
        for part in found.worst_slices.itertuples()
    ]
    if lines:
        columns = ["slice", ">rows", ">mean absolute error", ">elsewhere"]
        out.print(make_table(columns, lines, title="Where it is worst"))
    lines = [
        [f"{row.row}", value_text(row.value), value_text(row.prediction),
         f"{value_text(row.low)} to {value_text(row.high)}"]
        for row in found.largest_errors.itertuples()
    ]  # fmt: skip
    columns = [">row", f">{found.target}", ">prediction", ">90% interval"]
    out.print(make_table(columns, lines, title="Largest errors"))


def _show_scores(evaluation: Evaluation, out: Output) -> None:
    """Print the summary, and the scores of the model and others with the difference to kNN."""
    from lann.report import SCORES

    model, *others = evaluation.methods
    lines = []
    for score, name in SCORES.items():
        of_score = evaluation.scores.xs(score, level="score")
        line = [name, styled(figure(of_score.value[model]), "bold"), _interval(*of_score.loc[model, LIMITS])]
        line += of_score.value[others].tolist()
        for other in of_score.loc[others[:1]].itertuples():
            limits = _interval(other.difference_low, other.difference_high, signed=True)
            line.append(styled(limits or figure(other.difference, signed=True), STYLES[other.verdict]))
        lines.append(line)
    columns = ["score", f">{model}", ">>95% interval", *[f">{method}" for method in others]]
    columns += [f">>{model} − {method}" for method in others[:1]]
    out.print(evaluation.summary, soft_wrap=False)
    out.print(make_table(columns, lines, title="Scores", caption=_texts.PLAIN_KNN if others else None))
    for method in (evaluation.audit["cross_validation"] or [])[:1]:
        if method.accuracy is not None:
            text = f"The {method.n_folds}-fold cross-validation before the fit had an accuracy of "
            out.print(f"{text}{method.accuracy:.3f} ± {method.accuracy_std:.3f}.", soft_wrap=False)
    out.hint(_texts.INTERVALS)


LIMITS = ["low", "high"]


def _interval(low: float, high: float, *, signed: bool = False) -> str:
    return f"{figure(low, signed=signed)} to {figure(high, signed=signed)}" if low == low else ""


def _show_details(evaluation: Evaluation, out: Output) -> None:
    """Print classes, calibration, rejection, slices and mistakes, in brief."""

    def section(title: str, *parts: str) -> None:
        out.print("")
        out.print(title, style="bold")
        out.print(*parts, soft_wrap=False)

    out.print(_class_table(evaluation))
    if pairs := evaluation.confused_pairs(MOST_PAIRS):
        out.print(f"Confused most often: {'; '.join(pairs)}")
    reliability, rejection = evaluation.reliability, evaluation.rejection
    section("Are the probabilities right?", " ".join([*reliability.sentences, reliability.verdict]))
    section("If the least certain predictions are rejected", f"{rejection.sentence} {rejection.areas}")
    section("Where it is worst", evaluation.slice_verdict)
    if len(evaluation.worst_slices):
        out.print(_slice_table(evaluation))
    mistakes = []
    for mistake in evaluation.mistakes[:MOST_MISTAKES].itertuples():
        name = f"Row {mistake.row}" if mistake.id is None else f"Row {mistake.row}: {mistake.id}"
        why = "" if mistake.sentence is None else f": {mistake.sentence}"
        prediction = f"{mistake.prediction} with {percent(mistake.probability)}"
        mistakes.append(f"{name}, predicted {prediction}, label {mistake.label}{why}")
    if mistakes:
        section(f"Most confident of {counted(evaluation.n_wrong, 'mistake')}", *mistakes)


def _class_table(evaluation: Evaluation) -> Table:
    classes = evaluation.by_class
    n_more = len(classes) - MOST_CLASSES
    if n_more > 0:
        classes = classes.sort_values("recall", kind="stable")[:MOST_CLASSES]
    lines = []
    for line in classes.itertuples():
        precision, recall = (
            "" if low != low else f"{percent(low)} to {percent(high)}"
            for low, high in ((line.precision_low, line.precision_high), (line.recall_low, line.recall_high))
        )
        scores = [figure(line.precision), precision, figure(line.recall), recall, figure(line.f1)]
        lines.append([str(line.label), line.n_rows, *scores])
    columns = [">>rows", ">>precision", ">>95% interval", ">>recall", ">>95% interval", ">>F1"]
    caption = more(n_more, "class", " with higher recall", "more classes")
    return make_table(["class", *columns], lines, title="By class", caption=caption)


def _slice_table(evaluation: Evaluation) -> Table:
    """Return the slices that are worse beyond chance; if there are none, some that may be bad luck."""
    worst = evaluation.worst_slices
    worse = worst[worst["is_worse"]][:MOST_SLICES]
    shown = worse if len(worse) else worst[:FEW_SLICES]
    caption = "" if len(worse) else "these may be bad luck; "
    caption += "p-values are corrected for the number of slices"
    if n_more := len(worst) - len(shown):
        caption += f"; {counted(n_more, 'more slice')}: see --html or -o"
    lines = []
    for part in shown.itertuples():
        scores = [part.accuracy, part.accuracy_elsewhere, part.mean_probability]
        cells = [f"{part.column}: {part.values}", f"{part.n_rows:,}", *map(figure, scores)]
        cells.append(p_value_text(part.p_value))
        lines.append([styled(cell, "bold" if part.is_worse else "") for cell in cells])
    columns = ["slice", ">>rows", ">>accuracy", ">>elsewhere", ">>expected", ">>p-value"]
    return make_table(columns, lines, caption=caption)

"""The sections about rows: slices where the model is worst, and its most confident mistakes."""

from __future__ import annotations

from lann._format import counted, p_value_text, percent
from lann._markup import Html, class_label, element, folded_table, header_cell
from lann.report._evaluation.class_sections import share_cell
from lann.report._evaluation.evaluation import Evaluation
from lann.report._evaluation.mistakes import Mistake
from lann.report._evaluation.slices import LEAST_ROWS, Slice
from lann.report._evaluation.texts import share

# Slices that are shown at once, and at all.
N_SLICES, MOST_SLICES = 8, 40

SLICES = (
    "Rows with a certain value of a column, a range of numbers between quartiles, or a gap, which have at "
    f"least {LEAST_ROWS} rows. “Expected” is the mean probability of the predictions: where it is low, too, "
    "the model knows that it is less sure. The p-value is the chance of an accuracy as low if the slice were "
    "like the other rows, corrected for the number of slices (Fisher's exact test, Holm's correction): above "
    "0.05, a low accuracy may be bad luck."
)


def slices_section(evaluation: Evaluation) -> Html:
    """Return the section about the slices where the model is worst."""
    parts = [
        element("h2", "Where it is worst", id="slices"),
        element("p", evaluation.slice_verdict, class_="lead"),
    ]
    worst = evaluation.worst_slices
    if worst:
        header = [header_cell("slice"), header_cell("rows", number=True), header_cell("wrong", number=True)]
        header += [header_cell("accuracy"), header_cell("elsewhere", number=True)]
        header += [header_cell("expected", number=True), header_cell("p-value", number=True)]
        lines = [_slice_line(part) for part in worst[:MOST_SLICES]]
        n_more = len(worst) - N_SLICES
        parts.append(folded_table("Slices", header, lines, N_SLICES, n_more, class_="slices", noun="slice"))
    if evaluation.slices:
        parts.append(element("p", SLICES, class_="hint"))
    return element("section", *parts, aria_labelledby="slices")


def _slice_line(part: Slice) -> Html:
    name = [element("span", f"{part.column}: ", class_="hint"), part.values]
    if not part.is_used:
        name += [" ", element("i", "(not used by the model)")]
    return element(
        "tr",
        element("th", *name, scope="row"),
        element("td", f"{part.n_rows:,}", class_="number"),
        element("td", f"{part.n_wrong:,}", class_="number"),
        share_cell(part.accuracy),
        element("td", share(part.accuracy_elsewhere), class_="number"),
        element("td", share(part.mean_probability), class_="number"),
        element("td", p_value_text(part.p_value), class_="number worse" if part.is_worse else "number"),
    )


def mistakes_section(evaluation: Evaluation) -> Html:
    """Return the section about the mistakes with the highest probabilities."""
    classes = {str(label): index for index, label in enumerate(evaluation.classes)}
    shown, n_wrong = evaluation.mistakes, evaluation.n_wrong
    if not shown:
        text = "There are no mistakes."
    elif len(shown) == n_wrong:
        text = (
            f"All {counted(n_wrong, 'mistake')}, the most confident first."
            if n_wrong > 1
            else "The only mistake."
        )
    else:
        text = f"The {len(shown)} of {counted(n_wrong, 'mistake')} with the highest probabilities."
    return element(
        "section",
        element("h2", "Most confident mistakes", id="mistakes"),
        element("p", text),
        *[_mistake(mistake, classes) for mistake in shown],
        aria_labelledby="mistakes",
    )


def _mistake(mistake: Mistake, classes: dict[str, int]) -> Html:
    label = class_label(mistake.label, classes[str(mistake.label)])
    predicted = class_label(mistake.prediction, classes[str(mistake.prediction)])
    own = "" if mistake.label_probability != mistake.label_probability else percent(mistake.label_probability)
    line = element(
        "p",
        element("span", "predicted ", class_="hint"),
        predicted,
        f" {percent(mistake.probability)}",
        element("span", " label ", class_="hint"),
        label,
        f" {own}",
        class_="verdict",
    )
    sentence = [] if mistake.sentence is None else [element("p", f"Predicted {mistake.sentence}")]
    return element("article", element("h3", mistake.title), line, *sentence, class_="mistake")

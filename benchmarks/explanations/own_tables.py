"""The tables of what is measured of LANN's explanations alone, and of further kinds of planted data."""

from __future__ import annotations

import numpy as np

from benchmarks.engine import PartResults, Results, Row, Table, std
from benchmarks.engine.tables import (
    best_values,
    decimal,
    in_groups,
    milliseconds,
    share,
    share_and_std,
)
from benchmarks.explanations.curves import AREAS, KERNEL, SUPPORT
from benchmarks.explanations.explainers import OURS, Explainer
from benchmarks.explanations.fresh import STEPS
from benchmarks.explanations.kinds import KINDS as KINDS_OF_DATA
from benchmarks.explanations.summary import ANSWERS, CURVES, FAITHFULNESS, FIRST, FRESH, KINDS, MODELS


def kinds_table(results: Results, explainers: list[Explainer]) -> Table:
    """Agreement with the planted features of further kinds of data, a column for each kind."""
    found, names = results.part(KINDS, "auc"), list(KINDS_OF_DATA)
    best = [best_values([found.mean(e.name, name) for e in explainers]) for name in names]

    def row(position: int, explainer: Explainer) -> Row | None:
        first = next((v for name in names if (v := found.first(explainer.name, name))), None)
        if first is None:
            return None
        aucs = [share_and_std(found.mean(explainer.name, n), found.std(explainer.name, n)) for n in names]
        is_best = frozenset(i for i, rows in enumerate(best) if position in rows)
        return Row(explainer.name, (*aucs, str(first["n_rows"])), is_best, label=explainer.label)

    sections = in_groups((explainer.group, row(i, explainer)) for i, explainer in enumerate(explainers))
    models = results.part(MODELS, "accuracy")
    accuracies = [
        Row(model, (*(share_and_std(models.mean(model, n), models.std(model, n)) for n in names), ""))
        for model in models.methods
        if any(models.cell(model, name) for name in names)
    ]
    if sections and accuracies:
        sections.append(("accuracy of the model", accuracies))
    notes = (
        "Ten features. quadrants: the signs of two features choose which of four others decides. redundant "
        "pair: two noisy copies of a signal decide by their sum (noise .3); and third: with noise .05, and "
        "together with a third feature. joint only: the sign of a product. deep rows: two copies and a third "
        "feature decide, and the 30 % of the rows farthest from the boundary are explained. correlated "
        "noise: two features decide, and each has a copy with correlation .8 that does not.",
    )
    return Table("Further kinds of planted data", ("AUC", *names, "rows"), sections, notes)


def faithfulness_table(results: Results) -> Table:
    """Supports beside their definition, a row for each data set."""
    found = results.part(FAITHFULNESS)
    rows = [
        Row(
            name,
            (
                share_and_std(values["rank"], values["rank_std"]),
                share(values["rank_min"]),
                f"{100 * values['wrong_signs']:.2f} %",
                str(values["n_large"]),
                f"{values['difference']:.3f}",
                share(values["relevances"]),
                str(values["n_rows"]),
            ),
        )
        for name in found.data_sets
        if (values := found.first(OURS, name))
    ]
    notes = (
        "The definition is computed from `predict_proba` alone, at every row on the way to the contrast "
        "rows. rank: rank correlation of the support with the definition, over the features of a row; ± over "
        "the rows. min: of the worst row. signs: share of wrong signs among the entries of `supports` above "
        ".1. difference: the largest of any entry. around: rank correlation of the relevances, what matters "
        "around a row, with the absolute support, what the model does at this row.",
    )
    head = ("faithfulness", "rank", "min", "signs", "entries", "difference", "around", "rows")
    return Table("Supports beside their definition", head, [("", rows)], notes)


def answers_table(results: Results) -> Table:
    """Shares of rows with an answer, a row for each data set."""
    found = results.part(ANSWERS)
    scores = ("support", "grouped_support", "relevances", "grouped_relevances", "absolute")
    rows = [
        Row(name, (*(f"{100 * values[score]:.1f} %" for score in scores), str(values["n_rows"])))
        for name in found.data_sets
        if (values := found.first(OURS, name))
    ]
    notes = (
        "Rows in which one feature has more than 5 % of the sum of the absolute supports of the prediction, "
        "or of the relevances; grouped: one feature, or one group of correlated features. above .05: rows "
        "with a relevance above .05.",
    )
    head = ("rows with an answer", "support", "grouped", "relevances", "grouped", "above .05", "rows")
    return Table("Rows with an answer", head, [("", rows)], notes)


def curves_table(results: Results, labels: dict[str, str]) -> Table:
    """Areas under deletion and insertion curves, a section for each data set."""
    found = results.part(CURVES)

    def row(name: str, method: str) -> Row | None:
        areas = {area: pooled_rows(found, method, name, area) for area in AREAS}
        if not areas["deletion"]:
            return None
        cells = [share_and_std(float(np.mean(values)), std(values)) for values in areas.values()]
        seconds = found.mean(method, name, "seconds")
        return Row(
            method,
            (*cells, str(len(areas["deletion"])), milliseconds(seconds)),
            label=labels.get(method, method),
        )

    rows = [(name, row(name, method)) for name in found.data_sets for method in found.methods]
    notes = (
        "Areas under the mean probability of the prediction as features are replaced, those with the largest "
        "support first, ± over the rows. deletion: by those of ten random training rows; small is good. "
        "insertion: from such a row to the query; large is good. near: with the nearest row of another "
        "class. ms/row: explained in a batch, the median; KernelSHAP row by row.",
    )
    head = ("curves", "deletion", "insertion", "near deletion", "near insertion", "rows", "ms/row")
    return Table("Deletion and insertion curves", head, in_groups(rows), notes)


def lead_table(results: Results) -> Table:
    """Differences between the areas of LANN's support and of KernelSHAP, row by row."""
    found = results.part(CURVES)
    rows = []
    for name in found.data_sets:
        leads = {area: lead_over_kernel_shap(found, name, area) for area in AREAS}
        if any(lead is None for lead in leads.values()):
            continue
        cells = [f"{lead[0]:+.3f} ± {lead[1]:.3f}".replace("-", "−") for lead in leads.values() if lead]
        rows.append(Row(name, (*cells, decimal(speedup_of_support(found, name), 0))))
    notes = (
        "Mean difference of the areas, LANN's support minus KernelSHAP on the same rows and the same other "
        "rows, and its standard error. Negative is better for deletion, positive for insertion. speedup: "
        "times as fast per row.",
    )
    head = ("support − KernelSHAP", "deletion", "insertion", "near deletion", "near insertion", "speedup")
    return Table("Curves compared with KernelSHAP", head, [("", rows)], notes)


def first_table(results: Results) -> Table:
    """The first call compared with the fit."""
    found = results.part(FIRST)
    rows = [
        Row(
            name,
            (f"{cost['fit']:.2f}", f"{cost['first']:.2f}", f"{cost['ratio']:.2f} ± {cost['ratio_std']:.2f}"),
        )
        for name in found.data_sets
        if (cost := found.first(OURS, name))
    ]
    notes = ("The first explanation of a model computes the landmarks. Medians of the turns.",)
    return Table(
        "The first call", ("first explanation", "fit s", "first s", "first / fit"), [("", rows)], notes
    )


def fresh_table(results: Results) -> Table:
    """One row explained by a saved model in a new process."""
    found = results.part(FRESH)
    rows = [
        Row(name, (*(f"{values[step]:.3f}" for step in (*STEPS, "total")), f"{values['megabytes']:.1f}"))
        for name in found.data_sets
        if (values := found.first(OURS, name))
    ]
    notes = (
        "Seconds in a new process, medians: import of NumPy and lann, loading the model with its landmarks, "
        "the first explanation of one row with supports and sentence, and the same again. total: the first "
        "three.",
    )
    head = ("new process", "import s", "load s", "explain s", "again s", "total s", "MB")
    return Table("A saved model in a new process", head, [("", rows)], notes)


def pooled_rows(found: PartResults, method: str, name: str, area: str) -> list[float]:
    """Return the areas of all rows of all splits."""
    return [value for values in found.cell(method, name).values() for value in values[f"{area}_rows"]]


def lead_over_kernel_shap(found: PartResults, name: str, area: str) -> tuple[float, float] | None:
    """Return the mean difference of areas, support minus KernelSHAP, and its standard error."""
    ours, other = (pooled_rows(found, method, name, area) for method in (SUPPORT, KERNEL))
    if not ours or len(ours) != len(other):
        return None
    differences = np.subtract(ours, other)
    return float(differences.mean()), float((std(differences.tolist()) or 0.0) / len(differences) ** 0.5)


def speedup_of_support(found: PartResults, name: str) -> float | None:
    """Return how many times as fast a row is explained as by KernelSHAP."""
    ours, other = (found.mean(method, name, "seconds") for method in (SUPPORT, KERNEL))
    return None if ours is None or other is None else other / ours

"""The tables of the explanations."""

from __future__ import annotations

from benchmarks.engine import Results, Row, Table, mean, std
from benchmarks.engine.tables import best_values, decimal, in_groups, milliseconds, share, share_and_std
from benchmarks.explanations.agreement import SCORES
from benchmarks.explanations.categories import (
    CITIES_TABLE,
    N_CITIES,
    PLANTED_TABLE,
    TABLE_EXPLAINERS,
    TableExplainer,
)
from benchmarks.explanations.explainers import LANN, OURS, Explainer
from benchmarks.explanations.own_tables import (
    answers_table,
    curves_table,
    faithfulness_table,
    first_table,
    fresh_table,
    kinds_table,
    lead_table,
)
from benchmarks.explanations.summary import CATEGORIES, CITIES, COST, MODELS, PERMUTED, PLANTED, REAL
from benchmarks.explanations.tasks import Sizes, data_name


def make_tables(results: Results, explainers: list[Explainer], sizes: Sizes) -> list[Table]:
    """Return every table that has a row."""
    tables = [
        auc_table(results, explainers, sizes),
        *(scores_table(results, explainers, n_features, sizes) for n_features in sizes.n_features),
        accuracy_table(results, sizes),
        kinds_table(results, explainers),
        categories_table(results),
        cities_table(results),
        permuted_table(results, explainers),
        real_table(results, explainers, sizes),
        faithfulness_table(results),
        answers_table(results),
        curves_table(results, {**{e.name: e.label for e in explainers}, OURS: "LANN, relevances"}),
        lead_table(results),
        cost_table(results, sizes),
        first_table(results),
        fresh_table(results),
    ]
    return [table for table in tables if table.rows]


def auc_table(results: Results, explainers: list[Explainer], sizes: Sizes) -> Table:
    """Agreement with the planted features, a column for each number of features."""
    found, names = results.part(PLANTED, "auc"), [data_name(n) for n in sizes.n_features]
    best = [best_values([found.mean(e.name, name) for e in explainers]) for name in names]

    def row(position: int, explainer: Explainer) -> Row | None:
        cells = [found.cell(explainer.name, name) for name in names]
        measured = [values for cell in cells for values in cell.values()]
        if not measured:
            return None
        seconds = mean(v for name in names for v in found.values(explainer.name, name, "seconds"))
        aucs = [share_and_std(found.mean(explainer.name, n), found.std(explainer.name, n)) for n in names]
        return Row(
            explainer.name,
            (*aucs, str(measured[0]["n_rows"]), milliseconds(seconds)),
            frozenset(i for i, rows in enumerate(best) if position in rows),
            label=explainer.label,
        )

    notes = (
        "AUC: how often a feature that determines the label of a row is ranked before one that does not, "
        "without the gate; mean over the rows, ± over the seeds. The rows of a slow method are the first of "
        "those of the others.",
        *results.notes(),
    )
    head = ("AUC", *(f"{n} features" for n in sizes.n_features), "rows", "ms/row")
    sections = in_groups((explainer.group, row(i, explainer)) for i, explainer in enumerate(explainers))
    return Table("Agreement with the planted features", head, sections, notes)


def scores_table(results: Results, explainers: list[Explainer], n_features: int, sizes: Sizes) -> Table:
    """Every score on the data sets with one number of features."""
    found, name = results.part(PLANTED), data_name(n_features)

    def row(explainer: Explainer) -> Row | None:
        values = {score: found.mean(explainer.name, name, score) for score in SCORES}
        if values["auc"] is None:
            return None
        seconds = values.pop("seconds")
        cells = (*(share(value) for value in values.values()), milliseconds(seconds))
        return Row(explainer.name, cells, label=explainer.label)

    notes = (
        "top 3, rank: share of the planted features among the 3 most relevant, and among as many as are "
        "planted. mass: share of the relevance on planted features. deleted, random: change of the "
        "prediction's probability when the 3 most relevant features, or 3 random ones, are replaced by "
        "values of other rows. stable: cosine similarity to the explanation of a row .05 deviations away. "
        "sparse: Gini index.",
    )
    head = (
        f"{n_features} features", "AUC", "top 3", "rank", "mass", "deleted", "random", "stable", "sparse",
        "ms/row",
    )  # fmt: skip
    # The notes are the same for all of these tables, and stand below the last.
    is_last = n_features == sizes.n_features[-1]
    sections = in_groups((explainer.group, row(explainer)) for explainer in explainers)
    return Table(f"All scores, {n_features} features", head, sections, notes if is_last else ())


def accuracy_table(results: Results, sizes: Sizes) -> Table:
    """Accuracies of the models that are explained."""
    found, names = results.part(MODELS, "accuracy"), [data_name(n) for n in sizes.n_features]
    rows = [
        Row(model, tuple(share_and_std(found.mean(model, name), found.std(model, name)) for name in names))
        for model in found.methods
        if any(found.cell(model, name) for name in names)
    ]
    head = ("accuracy", *(f"{n} features" for n in sizes.n_features))
    return Table("Accuracy on the planted data", head, [("", rows)])


def categories_table(results: Results) -> Table:
    """Agreement with planted numbers and categories."""
    found = results.part(CATEGORIES, "auc")
    measured = [one for one in TABLE_EXPLAINERS if found.cell(one.name, PLANTED_TABLE)]
    best = best_values([found.mean(one.name, PLANTED_TABLE) for one in measured])

    def row(position: int, explainer: TableExplainer) -> Row:
        name = explainer.name
        cells = (
            *(
                share_and_std(found.mean(name, PLANTED_TABLE, s), found.std(name, PLANTED_TABLE, s))
                for s in ("auc", "accuracy")
            ),
            decimal(found.mean(name, PLANTED_TABLE, "n_rows"), 0),
            milliseconds(found.mean(name, PLANTED_TABLE, "seconds")),
        )
        return Row(name, cells, frozenset({0} if position in best else ()), label=explainer.label)

    notes = (
        "Tables of `lann.datasets.make_local_relevance_table` with its defaults. AUC: as above. Accuracy: of "
        "the model that is explained.",
    )
    head = ("tables with categories", "AUC", "accuracy", "rows", "ms/row")
    rows = [row(i, explainer) for i, explainer in enumerate(measured)]
    return Table("Planted with categories", head, [("", rows)], notes)


def cities_table(results: Results) -> Table:
    """How much of the vote depends on a category that decides together with a number."""
    found = results.part(CITIES)
    scores = ("city", "x", "replaced_city", "replaced_x", "accuracy")
    rows = [
        Row(
            one.name,
            tuple(
                share_and_std(found.mean(one.name, CITIES_TABLE, s), found.std(one.name, CITIES_TABLE, s))
                for s in scores
            ),
            label=one.label,
        )
        for one in TABLE_EXPLAINERS
        if found.cell(one.name, CITIES_TABLE)
    ]
    notes = (
        f"The label is whether the number of one of {N_CITIES} cities is odd, exclusive or whether x is "
        "positive. city, x: mean relevance, a share of the vote; alone each changes half. Replaced: mean "
        "change of the prediction's probability with the value of another row.",
    )
    head = ("cities", "city", "x", "city replaced", "x replaced", "accuracy")
    return Table("A category and a number that decide together", head, [("", rows)], notes)


def permuted_table(results: Results, explainers: list[Explainer]) -> Table:
    """AUCs with permuted labels, where no feature is relevant."""
    found = results.part(PERMUTED, "auc")
    rows = [
        Row(e.name, (share_and_std(mean(aucs), std(aucs)), str(len(aucs))), label=e.label)
        for e in explainers
        if (aucs := found.pooled(e.name))
    ]
    return Table("Permuted labels", ("labels permuted", "AUC", "fits"), [("", rows)])


def real_table(results: Results, explainers: list[Explainer], sizes: Sizes) -> Table:
    """Change of the prediction's probability on real data, a row for each data set."""
    found, ours = results.part(REAL), [e.name for e in explainers if e.group == LANN]
    rows = []
    for name in sizes.real_sets:
        random = next((v for e in ours if (v := found.mean(e, name, "random_deletion")) is not None), None)
        if random is not None:
            cells = [share(found.mean(explainer, name, "deletion")) for explainer in ours]
            rows.append(Row(name, (*cells, share(random))))
    return Table("Deletion on real data", ("3 features replaced", *ours, "random"), [("", rows)])


def cost_table(results: Results, sizes: Sizes) -> Table:
    """The cost of LANN's explanations."""
    found = results.part(COST)
    rows = [
        Row(
            name,
            (
                f"{cost['predict']:.3f}",
                f"{cost['explain']:.3f}",
                f"{cost['ratio']:.2f}",
                f"{cost['details']:.3f}",
                f"{cost['details_ratio']:.2f}",
                f"{cost['first']:.2f}",
                f"{cost['fit']:.2f}",
                f"{1e3 * cost['one']:.2f}",
                f"{1e3 * cost['one_in_words']:.2f}",
                decimal(cost["kernel"], 2),
                decimal(cost["speedup"], 0),
                decimal(cost["speedup_of_one"], 0),
            ),
        )
        for name in found.data_sets
        if (cost := found.first(OURS, name))
    ]
    notes = (
        f"predict s, explain s: {sizes.timed_rows} rows at once, the best of {sizes.timed_turns} turns. "
        "details s: with supports and contributions of all rows, and its ratio to predict. first s: the "
        "first call, which computes the landmarks once for a model; compare with the fit. one ms: a single "
        "row. words ms: with supports and sentence. KernelSHAP s: a row. speedup: times as fast as "
        "KernelSHAP, for a row among many; of one: for a single row.",
    )
    head = (
        "cost of LANN", "predict s", "explain s", "ratio", "details s", "ratio", "first s", "fit s", "one ms",
        "words ms", "KernelSHAP s", "speedup", "of one",
    )  # fmt: skip
    return Table("Cost", head, [("", rows)], notes)

"""The tables of `lann bench explanations` as text, for a terminal and for documents alike."""

from __future__ import annotations

from collections.abc import Callable
from itertools import groupby

from lann.bench.checks import Check
from lann.bench.explanations.explainers import LANN, Explainer
from lann.bench.explanations.results import SCORES, Results, mean, std
from lann.bench.paper_markdown import checks_section, section
from lann.bench.paper_tables import NONE, Grid, Row, Section, share

Naming = Callable[[Explainer], str]


def all_grids(results: Results, naming: Naming) -> list[Grid]:
    """Every table that has a row."""
    grids = [
        auc_grid(results, naming),
        *(scores_grid(results, n_features, naming) for n_features in results.sizes.n_features),
        accuracy_grid(results),
        permuted_grid(results, naming),
        real_grid(results, naming),
        cost_grid(results),
    ]
    return [grid for grid in grids if any(rows for _, rows in grid.sections)]


def auc_grid(results: Results, naming: Naming) -> Grid:
    """Agreement with what was planted, a column for each number of features."""
    sizes = results.sizes.n_features
    best = [
        max(
            (value for e in results.explainers if (value := results.mean(e.name, n)) is not None),
            default=None,
        )
        for n in sizes
    ]

    def row(explainer: Explainer) -> Row | None:
        means = [results.mean(explainer.name, n) for n in sizes]
        if all(value is None for value in means):
            return None
        stds = [results.std(explainer.name, n) for n in sizes]
        rows = next(count for n in sizes if (count := results.n_rows(explainer.name, n)) is not None)
        seconds = mean(v for n in sizes for v in results.values(explainer.name, n, "seconds"))
        cells = [_with_std(*pair) for pair in zip(means, stds, strict=True)]
        winners = frozenset(i for i, value in enumerate(means) if value is not None and value == best[i])
        return Row(naming(explainer), (*cells, str(rows), _milliseconds(seconds)), winners)

    notes = [
        "AUC: how often a feature that decides for a row is named before one that does not, the gate left "
        "out; mean over the rows, ± over the seeds. The fewer rows a slow method explains are the first of "
        "those that the others explain.",
        *(f"Without {name}: {reason}" for name, reason in results.skipped.items()),
        *(f"{method} failed on {name}: {text}" for (method, name), text in results.failures.items()),
    ]
    head = ("AUC", *(f"{n} features" for n in sizes), "rows", "ms/row")
    return Grid("Agreement with the planted features", head, _by_group(results, row), tuple(notes))


def scores_grid(results: Results, n_features: int, naming: Naming) -> Grid:
    """Every score on the data sets with one number of features."""

    def row(explainer: Explainer) -> Row | None:
        values = {score: results.mean(explainer.name, n_features, score) for score in SCORES}
        if values["auc"] is None:
            return None
        seconds = values.pop("seconds")
        return Row(naming(explainer), (*(share(value) for value in values.values()), _milliseconds(seconds)))

    notes = (
        "top 3, rank: share of the planted features among the 3 named first, and among as many as were "
        "planted. mass: share of the relevance that is on them. deleted, by lot: change of the "
        "prediction's probability when the 3 features named first, or 3 by lot, have another point's values. "
        "stable: cosine with what is said of a place .05 deviations beside. sparse: Gini index.",
    )
    head = (
        f"{n_features} features", "AUC", "top 3", "rank", "mass", "deleted", "by lot", "stable", "sparse",
        "ms/row",
    )  # fmt: skip
    # The same for all of these tables: said once, below the last.
    last = n_features == results.sizes.n_features[-1]
    return Grid(f"All scores, {n_features} features", head, _by_group(results, row), notes if last else ())


def accuracy_grid(results: Results) -> Grid:
    """How good the models are that are explained."""
    sizes = results.sizes.n_features
    rows = []
    for model in dict.fromkeys(model for model, _ in results.models):
        cells = []
        for n_features in sizes:
            right = [fit.accuracy for fit in results.models.get((model, n_features), {}).values()]
            cells.append(_with_std(mean(right), std(right)))
        rows.append(Row(model, tuple(cells)))
    head = ("accuracy", *(f"{n} features" for n in sizes))
    return Grid("Accuracy on the planted data", head, [("", rows)])


def permuted_grid(results: Results, naming: Naming) -> Grid:
    """Areas under the curve where there is nothing to find."""
    rows = [
        Row(naming(e), (_with_std(mean(aucs), std(aucs)), str(len(aucs))))
        for e in results.explainers
        if (aucs := results.permuted.get(e.name))
    ]
    return Grid("Permuted labels", ("labels permuted", "AUC", "fits"), [("", rows)])


def real_grid(results: Results, naming: Naming) -> Grid:
    """Change of the prediction's probability on real data, a row for each set."""
    explainers = [e for e in results.explainers if e.group == LANN]
    rows = []
    for name in results.sizes.real_sets:
        found = [results.deletion(e.name, name) for e in explainers]
        by_lot = next((change.by_lot for change in found if change is not None), None)
        if by_lot is not None:
            cells = [share(None if change is None else change.named) for change in found]
            rows.append(Row(name, (*cells, share(by_lot))))
    head = ("change without 3 features", *(naming(e) for e in explainers), "by lot")
    return Grid("Deletion on real data", head, [("", rows)])


def cost_grid(results: Results) -> Grid:
    """What LANN's explanations cost."""
    rows = [
        Row(
            f"{n_features} features",
            (
                f"{cost.predict:.3f}",
                f"{cost.explain:.3f}",
                f"{cost.ratio:.2f}",
                f"{cost.first:.2f}",
                f"{cost.fit:.2f}",
                f"{1e3 * cost.one:.2f}",
                *(
                    NONE if value is None else f"{value:.{digits}f}"
                    for value, digits in ((cost.kernel, 2), (cost.faster, 0), (cost.faster_alone, 0))
                ),
            ),
        )
        for n_features, cost in results.costs.items()
    ]
    notes = (
        f"predict s, explain s: {results.sizes.timed_rows} rows at once, the best of "
        f"{results.sizes.timed_turns} turns. first s: the first call, which looks closely at some training "
        "points, once for a model; beside it the fit. one ms: a row by itself. KernelSHAP s: a row. faster: "
        "how many times, for a row among many; alone: for one by itself.",
    )
    head = (
        "cost of LANN", "predict s", "explain s", "ratio", "first s", "fit s", "one ms", "KernelSHAP s",
        "faster", "alone",
    )  # fmt: skip
    return Grid("Cost", head, [("", rows)], notes)


def as_markdown(results: Results, checks: list[Check]) -> str:
    """All tables as a document."""
    sizes = results.sizes
    legend = [
        "| | name | what it is |",
        "|---|---|---|",
        *(f"| {e.label} | `{e.name}` | {e.description} |" for e in results.explainers),
    ]
    parts = [
        "# Explanations held against the truth",
        f"Means over {sizes.n_seeds} generator seeds of `lann.datasets.make_local_relevance` with its "
        f"defaults, {sizes.n_train} training points and {sizes.n_test} test rows. Written by "
        "`lann bench explanations`.",
        *(section(grid, "##") for grid in all_grids(results, lambda e: e.label)),
        checks_section(checks),
        "## The methods",
        "\n".join(legend),
    ]
    return "\n\n".join(parts) + "\n"


def _by_group(results: Results, row: Callable[[Explainer], Row | None]) -> list[Section]:
    sections = []
    for group, explainers in groupby(results.explainers, key=lambda explainer: explainer.group):
        rows = [made for explainer in explainers if (made := row(explainer)) is not None]
        if rows:
            sections.append((group, rows))
    return sections


def _with_std(value: float | None, spread: float | None) -> str:
    return NONE if value is None else f"{share(value)} ± {share(spread)}"


def _milliseconds(seconds: float | None) -> str:
    return NONE if seconds is None else f"{1e3 * seconds:.3g}"

"""The tables of the embeddings."""

from __future__ import annotations

from benchmarks.embeddings.cost import N_NEIGHBORS, N_NEW, PREFIT, TRANSFORM, WITH_FIT
from benchmarks.embeddings.measure import COMPARISON, METHODS, VARIANTS
from benchmarks.embeddings.tasks import ALIGNED, ANY, COST, SEGMENTATION
from benchmarks.engine import PartResults, Results, Row, Table
from benchmarks.engine.tables import NONE, Section, best_values, share

TITLES = {
    ALIGNED: "Licorice, cylinders along the axes",
    ANY: "Licorice, cylinders in any direction",
    SEGMENTATION: "Image segmentation",
}
COLUMNS = {
    "accuracy": "leave-one-out",
    "held_out_accuracy": "held-out",
    "trustworthiness": "trust.",
    "continuity": "contin.",
    "neighborhood_preservation": "preserved",
    "around": "around",
    "least_around": "worst",
    "pair_error": "pair error",
    "seconds": "s",
}
WITH_STD = ("accuracy", "held_out_accuracy", "pair_error")
LESS_IS_BETTER = ("pair_error",)

LEGEND = (
    "leave-one-out: training rows whose label is that of most of their 5 nearest neighbors in the embedding; "
    "held-out: the same for rows that were transformed afterwards, whose labels no method has seen. trust., "
    "contin.: whether neighbors in the embedding are neighbors in the data, and vice versa. preserved: "
    "neighbors under LANN's metrics that are neighbors in the embedding. s: fit and transform; for LANN min, "
    "mean and max without learning the metrics, which are those of LANN."
)
NOTES = {
    ALIGNED: "around, worst: whether held-out outside rows are farther from the center of the inside rows of "
    "a cylinder than held-out inside rows (.5 by chance), mean over the cylinders and the worst.",
    SEGMENTATION: "pair error: held-out foliage and windows that are confused with each other.",
}


def make_tables(results: Results) -> list[Table]:
    """Return every table that has a row."""
    parts = [part for part in TITLES if _measured(results.part(part))]
    tables = [part_table(results, part, is_last=part == parts[-1]) for part in parts]
    return [*tables, *([cost_table(results)] if results.part(COST).methods else [])]


def part_table(results: Results, part: str, *, is_last: bool = True) -> Table:
    """Return every score of every method on one data set; the columns are explained below the last table."""
    found = results.part(part)
    methods = _measured(found)
    scores = [score for score in COLUMNS if any(found.values(method, part, score) for method in methods)]
    compared = [method for method in methods if method in METHODS]
    best = {
        score: best_values(
            [found.mean(method, part, score) for method in compared], largest=score not in LESS_IS_BETTER
        )
        for score in scores
        if score != "seconds"
    }

    def row(method: str) -> Row:
        cells = tuple(_cell(found, method, score) for score in scores)
        highlighted = frozenset(
            i
            for i, score in enumerate(scores)
            if method in compared and compared.index(method) in best.get(score, ())
        )
        return Row(method, cells, highlighted)

    sections: list[Section] = [
        ("", [row(method) for method in compared]),
        ("variants of LANN", [row(method) for method in methods if method not in compared]),
    ]
    seconds = max(found.values(COMPARISON, part, "seconds"))
    notes = [f"The comparison of the first {len(compared)} took {seconds:.1f} s at most."]
    notes += [NOTES[part]] if part in NOTES else []
    notes += [LEGEND, *results.notes()] if is_last else []
    head = ("", *(COLUMNS[score] for score in scores))
    kept = [section for section in sections if section[1]]
    return Table(TITLES[part], head, kept, tuple(notes), titled=True)


def cost_table(results: Results) -> Table:
    """Return the cost of LANN's embedding compared with UMAP."""
    found = results.part(COST)
    rows = [
        Row(
            data_set,
            (
                method,
                f"{cost['seconds']:.2f}",
                f"{cost['umap_seconds']:.2f}",
                f"{cost['ratio']:.3f}" + (f" ± {cost['ratio_std']:.3f}" if cost["n_turns"] > 1 else ""),
                str(cost["n_turns"]),
            ),
        )
        for data_set in found.data_sets
        for method in found.methods
        if (cost := found.first(method, data_set))
    ]
    note = (
        f"Medians over the turns, with one thread, a seed and {N_NEIGHBORS} neighbors for both, UMAP with "
        f"its approximate search. {PREFIT}: with a fitted classifier; {WITH_FIT}: with the fit of the "
        f"classifier; {TRANSFORM}: of {N_NEW} new rows."
    )
    head = (COST, "LANN", "s", "UMAP s", "ratio", "turns")
    return Table("Cost", head, [("", rows)], (note,), titled=True)


def _measured(found: PartResults) -> list[str]:
    return [method for method in (*METHODS, *VARIANTS) if method in found.methods]


def _cell(found: PartResults, method: str, score: str) -> str:
    value = found.mean(method, found.name, score)
    if value is None:
        return NONE
    if score == "seconds":
        return f"{value:.2f}"
    several = len(found.values(method, found.name, score)) > 1
    spread = f" ± {share(found.std(method, found.name, score))}" if several and score in WITH_STD else ""
    return f"{share(value)}{spread}"

"""The tables of `lann bench embeddings` as text, for a terminal and for documents alike."""

from __future__ import annotations

from lann.bench.checks import Check
from lann.bench.embeddings.cost import FITTED, N_PLACED, PLACING, WITH_FIT
from lann.bench.embeddings.measure import METHODS
from lann.bench.embeddings.results import Results
from lann.bench.embeddings.task import ALIGNED, ANY, COST, SEGMENTATION
from lann.bench.paper_markdown import checks_section, section
from lann.bench.paper_tables import NONE, Grid, Row, Section, share

TITLES = {
    ALIGNED: "Licorice, sticks along the axes",
    ANY: "Licorice, sticks in any direction",
    SEGMENTATION: "Image segmentation",
}
COLUMNS = {
    "accuracy": "re-classified",
    "held_out_accuracy": "held out",
    "trustworthiness": "trust.",
    "continuity": "contin.",
    "neighborhood_preservation": "preserved",
    "around": "around",
    "least_around": "worst",
    "pair_error": "pair error",
    "seconds": "s",
}
WITH_STD = ("accuracy", "held_out_accuracy", "pair_error")
LESS_IS_BETTER = ("pair_error", "seconds")

LEGEND = (
    "re-classified: points most of whose 5 nearest in the embedding have their label; held out: the same "
    "for points placed afterwards, whose labels no method has seen. trust., contin.: whether neighbors in "
    "the embedding are neighbors in the data, and the other way round. preserved: neighbors under LANN's "
    "metrics that are neighbors in the embedding. s: fitting and placing; for LANN min, mean and max "
    "without learning the metrics, which are those of LANN."
)
NOTES = {
    ALIGNED: "around, worst: whether held-out outside points lie farther from the middle of a stick's inside "
    "points than inside points do (.5 by chance), mean of the sticks and the worst.",
    SEGMENTATION: "pair error: held-out foliage and windows that are taken for the other.",
}


def all_grids(results: Results) -> list[Grid]:
    """Every table that has a row."""
    parts = [part for part in TITLES if results.methods(part)]
    grids = [part_grid(results, part, last=part == parts[-1]) for part in parts]
    return [*grids, *([cost_grid(results)] if results.costs else [])]


def part_grid(results: Results, part: str, *, last: bool = True) -> Grid:
    """Every score of every method on one data set; what the columns mean stands below the last table."""
    methods = results.methods(part)
    scores = [score for score in COLUMNS if any(results.values(method, part, score) for method in methods)]
    best = {score: _best(results, part, score) for score in scores if score != "seconds"}

    def row(method: str) -> Row:
        cells = tuple(_cell(results, method, part, score) for score in scores)
        winners = (i for i, score in enumerate(scores) if method in best.get(score, ()))
        return Row(method, cells, frozenset(winners))

    paper, variants = (
        [row(method) for method in methods if (method in METHODS) == listed] for listed in (True, False)
    )
    sections: list[Section] = [("", paper), ("other ways to measure", variants)]
    seconds = max(results.seconds(part))
    notes = [
        f"The comparison of the first {len(paper)} took {seconds:.1f} s at most.",
        *([NOTES[part]] if part in NOTES else []),
        *([LEGEND] if last else []),
        *(f"{what} failed on {name}: {text}" for (what, name), text in results.failures.items() if last),
        *(f"Without {name}: {reason}" for name, reason in results.skipped.items() if last),
    ]
    head = ("", *(COLUMNS[score] for score in scores))
    return Grid(TITLES[part], head, [part for part in sections if part[1]], tuple(notes))


def cost_grid(results: Results) -> Grid:
    """LANN's embedding beside UMAP."""
    rows = [
        Row(
            cost.data_set,
            (
                cost.what,
                f"{cost.seconds:.2f}",
                f"{cost.umap_seconds:.2f}",
                f"{cost.ratio:.3f} ± {cost.std:.3f}" if cost.n_turns > 1 else f"{cost.ratio:.3f}",
                str(cost.n_turns),
            ),
        )
        for cost in results.costs
    ]
    note = (
        "Medians over the turns, by one thread, both with a seed and 15 neighbors, UMAP with its "
        f"approximate search. {FITTED}: with a classifier that is there; {WITH_FIT}: its fit counts, too; "
        f"{PLACING}: {N_PLACED} new points."
    )
    head = (COST, "LANN", "s", "UMAP s", "ratio", "turns")
    return Grid("Cost", head, [("", rows)], (note,))


def as_markdown(results: Results, checks: list[Check]) -> str:
    """All tables as a document."""
    sizes = results.sizes
    parts = [
        "# Embeddings compared",
        f"Means over {sizes.n_seeds} seeds, of the data and of the split: 70 % of each class are embedded, "
        "the rest is held out. Every method has the data scaled by the embedded part. Written by "
        "`lann bench embeddings`.",
        *(section(grid, "##") for grid in all_grids(results)),
        checks_section(checks),
    ]
    return "\n\n".join(parts) + "\n"


def _best(results: Results, part: str, score: str) -> set[str]:
    """The methods of the paper that are best by a score."""
    found = {
        method: value
        for method in results.methods(part)
        if method in METHODS and (value := results.mean(method, part, score)) is not None
    }
    if not found:
        return set()
    top = min(found.values()) if score in LESS_IS_BETTER else max(found.values())
    return {method for method, value in found.items() if value == top}


def _cell(results: Results, method: str, part: str, score: str) -> str:
    value = results.mean(method, part, score)
    if value is None:
        return NONE
    if score == "seconds":
        return f"{value:.2f}"
    several = len(results.values(method, part, score)) > 1
    spread = f" ± {share(results.std(method, part, score))}" if several and score in WITH_STD else ""
    return f"{share(value)}{spread}"

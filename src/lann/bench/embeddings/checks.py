"""What `lann bench embeddings` must show."""

from __future__ import annotations

from dataclasses import replace

from lann.bench.checks import NOT_MEASURED, OK, ROUNDING, SHORT, Check
from lann.bench.embeddings.cost import FITTED, WITH_FIT, made_name
from lann.bench.embeddings.measure import METHODS, OURS
from lann.bench.embeddings.results import Results
from lann.bench.embeddings.task import ALIGNED, ANY, FULL, SEGMENTATION, SEGMENTATION_SET

LEAST_ACCURACY, LEAST_HELD_OUT = 0.97, 0.95
RIVALS, AHEAD = ("UMAP", "GMLVQ", "LMNN"), 0.05
LEAST_AROUND = 0.9
MOST_SECONDS = 120.0
MOST_COST = 1.3


def run_checks(results: Results) -> list[Check]:
    """All checks; with less data than the benchmark's own they are only a foretaste, and each says so."""
    checks = [check for part in (ALIGNED, ANY) for check in _licorice(results, part)]
    checks += [*_segmentation(results), _cost(results, FITTED), _cost(results, WITH_FIT)]
    if results.sizes == FULL:
        return checks
    few = f"of {results.sizes.n_seeds} seeds" if results.sizes.n_seeds > 1 else "of 1 seed"
    return [
        replace(check, measured=f"{check.measured} ({few})") if check.measured else check for check in checks
    ]


def _licorice(results: Results, part: str) -> list[Check]:
    return [
        _at_least(
            results, part, "accuracy", LEAST_ACCURACY, f"LANN re-classifies at least {LEAST_ACCURACY:g}"
        ),
        _at_least(
            results, part, "held_out_accuracy", LEAST_HELD_OUT,
            f"LANN classifies at least {LEAST_HELD_OUT:g} of the held-out points",
        ),
        _ahead(
            results, part, RIVALS, AHEAD,
            f"{part}: LANN ahead of {', '.join(RIVALS)} by at least {AHEAD:g} on held-out points",
        ),
        _at_least(
            results, part, "least_around", LEAST_AROUND,
            f"LANN puts outside points around inside points, at least {LEAST_AROUND:g} for the worst stick",
        ),
    ]  # fmt: skip


def _segmentation(results: Results) -> list[Check]:
    others = tuple(method for method in METHODS if method != OURS)
    return [
        _ahead(
            results, SEGMENTATION, others, 0.0,
            f"{SEGMENTATION}: LANN ahead of every other method on held-out points",
        ),
        _foliage_and_window(results),
        _seconds(results),
    ]  # fmt: skip


def _at_least(results: Results, part: str, score: str, least: float, what: str) -> Check:
    name = f"{part}: {what}"
    found = results.mean(OURS, part, score)
    if found is None:
        return Check(name, "", NOT_MEASURED)
    measured = f"{found:.4f} ± {results.std(OURS, part, score):.4f}"
    return Check(name, measured, OK if found >= least - ROUNDING else SHORT)


def _ahead(results: Results, part: str, others: tuple[str, ...], by: float, name: str) -> Check:
    ours = results.mean(OURS, part)
    theirs = {other: results.mean(other, part) for other in others}
    known = {other: ours - value for other, value in theirs.items() if ours is not None and value is not None}
    if len(known) < len(others):
        return Check(name, "", NOT_MEASURED)
    narrowest = min(known, key=known.__getitem__)
    enough = known[narrowest] >= by - ROUNDING if by else known[narrowest] > ROUNDING
    return Check(name, f"narrowest: {narrowest}, by {known[narrowest]:.4f}", OK if enough else SHORT)


def _foliage_and_window(results: Results) -> Check:
    name = f"{SEGMENTATION}: foliage and window are confused less by LANN than by UMAP, held out"
    ours, other = (results.mean(method, SEGMENTATION, "pair_error") for method in (OURS, "UMAP"))
    if ours is None or other is None:
        return Check(name, "", NOT_MEASURED)
    return Check(name, f"{ours:.4f} against {other:.4f}", OK if ours < other - ROUNDING else SHORT)


def _seconds(results: Results) -> Check:
    name = f"{SEGMENTATION}: the whole comparison takes less than {MOST_SECONDS:g} s"
    found = results.seconds(SEGMENTATION)
    if not found:
        return Check(name, "", NOT_MEASURED)
    return Check(name, f"{max(found):.1f} s at most", OK if max(found) < MOST_SECONDS else SHORT)


def _cost(results: Results, what: str) -> Check:
    side = {FITTED: "with a fitted classifier", WITH_FIT: "with the fit of its classifier"}[what]
    name = f"cost: {side}, LANNEmbedding takes at most {MOST_COST:g} times as long as UMAP"
    sizes = results.sizes
    made = [made_name(n_rows, sizes) for n_rows in (sizes.timed_rows, sizes.large_rows)]
    wanted = (SEGMENTATION_SET, *made)
    ratios = {cost.data_set: cost.ratio for cost in results.costs if cost.what == what}
    known = {data_set: ratios[data_set] for data_set in wanted if data_set in ratios}
    measured = ", ".join(f"{ratio:.2f} on {data_set}" for data_set, ratio in known.items())
    if any(ratio > MOST_COST + ROUNDING for ratio in known.values()):
        return Check(name, measured, SHORT)
    return Check(name, measured, OK if len(known) == len(wanted) else NOT_MEASURED)

"""The checks of the embeddings."""

from __future__ import annotations

from benchmarks.embeddings.cost import PREFIT, WITH_FIT, timed_sets
from benchmarks.embeddings.measure import COMPARISON, METHODS, OURS
from benchmarks.embeddings.tasks import ALIGNED, ANY, COST, FULL, SEGMENTATION, Sizes
from benchmarks.engine import Check, Results, check, check_margins, difference, with_note
from benchmarks.engine.checks import ROUNDING, check_at_least
from benchmarks.engine.tables import plural

LEAST_ACCURACY, LEAST_HELD_OUT = 0.97, 0.95
COMPARED, AHEAD = ("UMAP", "GMLVQ", "LMNN"), 0.05
LEAST_AROUND = 0.9
MOST_SECONDS = 120.0
MOST_COST = 1.3


def make_checks(results: Results, sizes: Sizes) -> list[Check]:
    """Return all checks; with less data than the full benchmark they are preliminary, and each says so."""
    checks = [one for part in (ALIGNED, ANY) for one in _licorice(results, part)]
    checks += [
        _ahead(
            results, SEGMENTATION, tuple(method for method in METHODS if method != OURS), 0.0,
            f"{SEGMENTATION}: LANN ahead of every other method on held-out rows",
        ),
        _pair_error(results),
        _seconds(results),
        _cost(results, sizes, PREFIT, "with a fitted classifier"),
        _cost(results, sizes, WITH_FIT, "with the fit of its classifier"),
    ]  # fmt: skip
    if sizes == FULL:
        return checks
    return with_note(checks, plural(sizes.n_seeds, "seed"))


def _licorice(results: Results, part: str) -> list[Check]:
    return [
        _at_least(
            results, part, "accuracy", LEAST_ACCURACY,
            f"{part}: LANN re-classifies at least {LEAST_ACCURACY:g} of the training rows",
        ),
        _at_least(
            results, part, "held_out_accuracy", LEAST_HELD_OUT,
            f"{part}: LANN classifies at least {LEAST_HELD_OUT:g} of the held-out rows",
        ),
        _ahead(
            results, part, COMPARED, AHEAD,
            f"{part}: LANN ahead of {', '.join(COMPARED)} by at least {AHEAD:g} on held-out rows",
        ),
        _at_least(
            results, part, "least_around", LEAST_AROUND,
            f"{part}: LANN keeps outside around inside, at least {LEAST_AROUND:g} for the worst cylinder",
        ),
    ]  # fmt: skip


def _at_least(results: Results, part: str, score: str, least: float, requirement: str) -> Check:
    found = results.part(part, score)
    value, spread = found.mean(OURS, part), found.std(OURS, part)
    return check_at_least(requirement, value, least, "" if value is None else f"{value:.4f} ± {spread:.4f}")


def _ahead(results: Results, part: str, others: tuple[str, ...], least: float, requirement: str) -> Check:
    found = results.part(part, "held_out_accuracy")
    margins = {other: difference(found.mean(OURS, part), found.mean(other, part)) for other in others}
    return check_margins(requirement, margins, least=least, strict=least == 0)


def _pair_error(results: Results) -> Check:
    requirement = f"{SEGMENTATION}: LANN confuses foliage and windows less often than UMAP, held out"
    found = results.part(SEGMENTATION, "pair_error")
    ours, other = (found.mean(method, SEGMENTATION) for method in (OURS, "UMAP"))
    if ours is None or other is None:
        return check(requirement, None)
    return check(requirement, ours < other - ROUNDING, f"{ours:.4f} against {other:.4f}")


def _seconds(results: Results) -> Check:
    requirement = f"{SEGMENTATION}: the whole comparison takes less than {MOST_SECONDS:g} s"
    seconds = results.part(SEGMENTATION, "seconds").values(COMPARISON, SEGMENTATION)
    if not seconds:
        return check(requirement, None)
    return check(requirement, max(seconds) < MOST_SECONDS, f"{max(seconds):.1f} s at most")


def _cost(results: Results, sizes: Sizes, method: str, condition: str) -> Check:
    requirement = f"cost: {condition}, LANNEmbedding takes at most {MOST_COST:g} times as long as UMAP"
    found = results.part(COST, "ratio")
    ratios = {name: found.mean(method, name) for name in timed_sets(sizes)}
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    measured = ", ".join(f"{ratio:.2f} on {name}" for name, ratio in known.items())
    if any(ratio > MOST_COST + ROUNDING for ratio in known.values()):
        return check(requirement, False, measured)
    return check(requirement, True if len(known) == len(ratios) else None, measured)

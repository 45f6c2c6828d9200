"""The checks of the explanations."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.common.published import PUBLISHED
from benchmarks.engine import Check, Results, check, check_margins, difference, mean, std, with_note
from benchmarks.engine.checks import ROUNDING, check_at_least
from benchmarks.engine.tables import plural
from benchmarks.explanations.categories import CITIES_TABLE, PLANTED_TABLE
from benchmarks.explanations.explainers import OURS, Explainer
from benchmarks.explanations.own_checks import make_own_checks
from benchmarks.explanations.summary import (
    CATEGORIES,
    CITIES,
    COST,
    MODELS,
    PERMUTED,
    PLANTED,
    REAL,
    auc_difference,
)
from benchmarks.explanations.tasks import FULL, Sizes, data_name

# Least mean area under the curve, by the number of features.
LEAST_AUC = {8: 0.985, 12: 0.985, 20: 0.985}
LEAST_AUC_OF_TABLES = 0.97
AROUND_HALF = 0.1
TIMES_PREDICT = 3.0
SPEEDUP = 1000.0
SETS_WITH_DELETION = 10
AROUND_CHANCE = 0.05
COMPARED = ("tree-shap", "kernel-shap-lann", "lime-lann")


def make_checks(results: Results, explainers: list[Explainer], sizes: Sizes) -> list[Check]:
    """Return all checks; with less data than the full benchmark they are preliminary, and each says so."""
    checks = [
        *(_auc(results, n_features) for n_features in LEAST_AUC),
        _planted_table(results),
        _cities(results),
        _ahead_of_every_method(results, explainers),
        _more_accurate_than_forest(results),
        _cost(
            results, "ratio", max, lambda ratio: ratio < TIMES_PREDICT, "{:.2f} times",
            f"lann: explaining 10 000 rows takes less than {TIMES_PREDICT:g} times as long as predicting",
        ),
        _cost(
            results, "speedup", min, lambda times: times >= SPEEDUP, "{:.0f} times",
            f"lann: at least {SPEEDUP:g} times as fast per row, of 10 000 at once, as KernelSHAP on the same "
            "model",
        ),
        _deletion(results),
        _permuted(results),
        *make_own_checks(results),
    ]  # fmt: skip
    if sizes == FULL:
        return checks
    return with_note(checks, plural(sizes.n_seeds, "seed"))


def _auc(results: Results, n_features: int) -> Check:
    least, found, data_set = LEAST_AUC[n_features], results.part(PLANTED, "auc"), data_name(n_features)
    value, spread = found.mean(OURS, data_set), found.std(OURS, data_set)
    requirement = f"lann: mean AUC at {n_features} features at least {least:g}"
    return check_at_least(requirement, value, least, "" if value is None else f"{value:.4f} ± {spread:.4f}")


def _planted_table(results: Results) -> Check:
    found = results.part(CATEGORIES, "auc")
    value, spread = found.mean(OURS, PLANTED_TABLE), found.std(OURS, PLANTED_TABLE)
    requirement = f"lann: mean AUC on tables with categories at least {LEAST_AUC_OF_TABLES:g}"
    measured = "" if value is None else f"{value:.4f} ± {spread:.4f}"
    return check_at_least(requirement, value, LEAST_AUC_OF_TABLES, measured)


def _cities(results: Results) -> Check:
    requirement = (
        f"lann: a city that decides together with a number has a relevance within {AROUND_HALF:g} of .5"
    )
    value = results.part(CITIES, "city").mean(OURS, CITIES_TABLE)
    if value is None:
        return check(requirement, None)
    return check(requirement, abs(value - 0.5) <= AROUND_HALF + ROUNDING, f"{value:.4f}")


def _ahead_of_every_method(results: Results, explainers: list[Explainer]) -> Check:
    others = [explainer.name for explainer in explainers if explainer.name != OURS]
    return check_margins(
        "lann: AUC ahead of every other method, on the rows that it explained",
        {
            f"{other} at {n_features}": auc_difference(results, OURS, other, data_name(n_features))
            for other in others
            for n_features in LEAST_AUC
        },
        strict=True,
        missing=any(name not in others for name in COMPARED),
    )


def _more_accurate_than_forest(results: Results) -> Check:
    found = results.part(MODELS, "accuracy")
    return check_margins(
        "lann: more accurate than the forest on the planted data",
        {
            f"{n} features": difference(found.mean("lann", data_name(n)), found.mean("forest", data_name(n)))
            for n in LEAST_AUC
        },
        strict=True,
    )


def _cost(
    results: Results,
    score: str,
    worst: Callable[..., str],
    is_enough: Callable[[float], bool],
    form: str,
    requirement: str,
) -> Check:
    found = results.part(COST, score)
    values = {name: found.mean(OURS, name) for name in found.data_sets}
    known = {name: value for name, value in values.items() if value is not None}
    if not known:
        return check(requirement, None)
    name = worst(known, key=known.__getitem__)
    return check(requirement, is_enough(known[name]), f"{form.format(known[name])}, {name}")


def _deletion(results: Results) -> Check:
    requirement = (
        "lann: replacing the 3 most relevant features changes the prediction's probability more than "
        f"replacing 3 random ones, on at least {SETS_WITH_DELETION} of {len(PUBLISHED)} sets"
    )
    found = results.part(REAL)
    differences = [
        difference(found.mean(OURS, name, "deletion"), found.mean(OURS, name, "random_deletion"))
        for name in PUBLISHED
    ]
    larger = [value > ROUNDING for value in differences if value is not None]
    measured = f"{sum(larger)} of {len(larger)}" if larger else ""
    if sum(larger) >= SETS_WITH_DELETION:
        return check(requirement, True, measured)
    return check(requirement, None if len(larger) < len(PUBLISHED) else False, measured)


def _permuted(results: Results) -> Check:
    requirement = f"lann: with permuted labels the mean AUC is within {AROUND_CHANCE:g} of .5"
    aucs = results.part(PERMUTED, "auc").pooled(OURS)
    value = mean(aucs)
    if value is None:
        return check(requirement, None)
    is_near = abs(value - 0.5) <= AROUND_CHANCE + ROUNDING
    return check(requirement, is_near, f"{value:.4f} ± {std(aucs):.4f}, {len(aucs)} fits")

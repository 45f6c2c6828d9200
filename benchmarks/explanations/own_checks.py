"""The checks of what is measured of LANN's explanations alone, and of further kinds of planted data."""

from __future__ import annotations

from benchmarks.engine import Check, Results, check, check_margins, difference
from benchmarks.explanations.explainers import OURS
from benchmarks.explanations.kinds import CORRELATED, DEEP, JOINT, PAIR, PAIR_AND_THIRD, QUADRANTS
from benchmarks.explanations.own_tables import lead_over_kernel_shap, speedup_of_support
from benchmarks.explanations.summary import ANSWERS, COST, CURVES, FAITHFULNESS, FIRST, KINDS

# Least mean area under the curve, by the kind of data.
LEAST_AUC = {QUADRANTS: 0.97, PAIR: 0.97, PAIR_AND_THIRD: 0.97, JOINT: 0.95, DEEP: 0.95, CORRELATED: 0.95}
LEAST_RANK = 0.97
MOST_WRONG_SIGNS = 0.01
SPEEDUP = 1000.0
SECONDS_OF_ONE = 0.02
# Deletion curves are to be low, insertion curves high.
SIGNS = {"deletion": -1, "insertion": 1}


def make_own_checks(results: Results) -> list[Check]:
    """Return the checks in the order of the parts."""
    return [
        _kinds(results),
        _rank(results),
        _signs(results),
        _answers(results),
        *(_curve(results, area) for area in SIGNS),
        _speedup(results),
        _one(results),
        _first(results),
    ]


def _kinds(results: Results) -> Check:
    found = results.part(KINDS, "auc")
    return check_margins(
        "lann: mean AUC on further kinds of data at least "
        + ", ".join(f"{least:g} ({kind})" for kind, least in LEAST_AUC.items()),
        {kind: difference(found.mean(OURS, kind), least) for kind, least in LEAST_AUC.items()},
    )


def _rank(results: Results) -> Check:
    found = results.part(FAITHFULNESS, "rank")
    return check_margins(
        f"lann: rank correlation of the support with its definition at least {LEAST_RANK:g} on every set",
        {name: difference(found.mean(OURS, name), LEAST_RANK) for name in found.data_sets},
    )


def _signs(results: Results) -> Check:
    found = results.part(FAITHFULNESS, "wrong_signs")
    return check_margins(
        f"lann: less than {100 * MOST_WRONG_SIGNS:g} % of the supports above .1 have the wrong sign",
        {name: difference(MOST_WRONG_SIGNS, found.mean(OURS, name)) for name in found.data_sets},
        strict=True,
    )


def _answers(results: Results) -> Check:
    found = results.part(ANSWERS)
    margins = {
        f"{name}, {score}": difference(found.mean(OURS, name, f"grouped_{score}"), 1.0)
        for name in found.data_sets
        for score in ("support", "relevances")
    }
    return check_margins("lann: every row has a feature or group above 5 % of what is explained", margins)


def _curve(results: Results, area: str) -> Check:
    found = results.part(CURVES)
    leads = {name: lead_over_kernel_shap(found, name, area) for name in found.data_sets}
    return check_margins(
        f"lann: {area} curves of the support ahead of KernelSHAP on the same model",
        {name: None if lead is None else SIGNS[area] * lead[0] for name, lead in leads.items()},
        strict=True,
    )


def _speedup(results: Results) -> Check:
    requirement = f"lann: supports at least {SPEEDUP:g} times as fast per row as KernelSHAP"
    found = results.part(CURVES)
    speedups = {name: speedup_of_support(found, name) for name in found.data_sets}
    known = {name: times for name, times in speedups.items() if times is not None}
    if not known:
        return check(requirement, None)
    name = min(known, key=known.__getitem__)
    return check(requirement, known[name] >= SPEEDUP, f"{known[name]:.0f} times, {name}")


def _one(results: Results) -> Check:
    requirement = f"lann: one row with supports and sentence in less than {1e3 * SECONDS_OF_ONE:g} ms"
    found = results.part(COST, "one_in_words")
    known = {name: value for name in found.data_sets if (value := found.mean(OURS, name)) is not None}
    if not known:
        return check(requirement, None)
    name = max(known, key=known.__getitem__)
    return check(requirement, known[name] < SECONDS_OF_ONE, f"{1e3 * known[name]:.1f} ms, {name}")


def _first(results: Results) -> Check:
    found = results.part(FIRST, "ratio")
    return check_margins(
        "lann: the first explanation does not take longer than the fit",
        {name: difference(1.0, found.mean(OURS, name)) for name in found.data_sets},
    )

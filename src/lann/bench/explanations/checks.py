"""What `lann bench explanations` must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lann.bench.checks import NOT_MEASURED, OK, ROUNDING, SHORT, Check
from lann.bench.explanations.explainers import OURS
from lann.bench.explanations.results import Results, mean, std
from lann.bench.explanations.task import FULL
from lann.bench.published import PUBLISHED

# Least mean area under the curve, by the number of features.
LEAST_AUC = {8: 0.93, 12: 0.97, 20: 0.97}
TIMES_PREDICT = 3.0
TIMES_FASTER = 1000.0
SETS_WITH_DELETION = 10
AROUND_CHANCE = 0.05


def run_checks(results: Results) -> list[Check]:
    """All checks; with less data than the benchmark's own they are only a foretaste, and each says so."""
    checks = [
        *(_auc(results, n_features) for n_features in LEAST_AUC),
        _ahead_of_every_method(results),
        _more_accurate_than_forest(results),
        _explain_against_predict(results),
        _faster_than_kernel_shap(results),
        _deletion(results),
        _permuted(results),
    ]
    if results.sizes == FULL:
        return checks
    few = f"of {results.sizes.n_seeds} seeds" if results.sizes.n_seeds > 1 else "of 1 seed"
    return [
        replace(check, measured=f"{check.measured} ({few})") if check.measured else check for check in checks
    ]


def _auc(results: Results, n_features: int) -> Check:
    least = LEAST_AUC[n_features]
    name = f"lann: mean AUC at {n_features} features at least {least:g}"
    found = results.mean(OURS, n_features)
    if found is None:
        return Check(name, "", NOT_MEASURED)
    measured = f"{found:.4f} ± {results.std(OURS, n_features):.4f}"
    return Check(name, measured, OK if found >= least - ROUNDING else SHORT)


def _ahead_of_every_method(results: Results) -> Check:
    others = [explainer.name for explainer in results.explainers if explainer.name != OURS]
    margins = {
        f"{other} at {n_features}": results.lead(OURS, other, n_features)
        for other in others
        for n_features in LEAST_AUC
    }
    missing = [name for name in ("tree-shap", "kernel-shap-lann", "lime-lann") if name not in others]
    return _all_above(
        "lann: AUC ahead of every other method, on the rows that it explained", margins, missing=missing
    )


def _more_accurate_than_forest(results: Results) -> Check:
    margins = {
        f"{n_features} features": _minus(
            results.accuracy("lann", n_features), results.accuracy("forest", n_features)
        )
        for n_features in LEAST_AUC
    }
    return _all_above("lann: more accurate than the forest on the planted data", margins)


def _explain_against_predict(results: Results) -> Check:
    name = f"lann: explaining 10 000 rows takes less than {TIMES_PREDICT:g} times as long as predicting them"
    return _worst_cost(
        results, name, lambda cost: cost.ratio, max, lambda ratio: ratio < TIMES_PREDICT, "{:.2f} times"
    )


def _faster_than_kernel_shap(results: Results) -> Check:
    name = (
        f"lann: at least {TIMES_FASTER:g} times faster per row, of 10 000 at once, than KernelSHAP on the "
        "same model"
    )
    return _worst_cost(
        results, name, lambda cost: cost.faster, min, lambda times: times >= TIMES_FASTER, "{:.0f} times"
    )


def _worst_cost(
    results: Results,
    name: str,
    figure: Callable[..., float | None],
    worst: Callable[..., int],
    enough: Callable[[float], bool],
    form: str,
) -> Check:
    known = {n: value for n, cost in results.costs.items() if (value := figure(cost)) is not None}
    if not known:
        return Check(name, "", NOT_MEASURED)
    at = worst(known, key=known.__getitem__)
    return Check(name, f"{form.format(known[at])} at {at} features", OK if enough(known[at]) else SHORT)


def _deletion(results: Results) -> Check:
    name = (
        f"lann: without the 3 features named, the prediction's probability changes more than without 3 by "
        f"lot, on at least {SETS_WITH_DELETION} of {len(PUBLISHED)} sets"
    )
    found = {data_set: results.deletion(OURS, data_set) for data_set in PUBLISHED}
    more = [change.named > change.by_lot + ROUNDING for change in found.values() if change is not None]
    if sum(more) >= SETS_WITH_DELETION:
        return Check(name, f"{sum(more)} of {len(more)}", OK)
    if len(more) < len(found):
        return Check(name, f"on {sum(more)} of the {len(more)} measured" if more else "", NOT_MEASURED)
    return Check(name, str(sum(more)), SHORT)


def _permuted(results: Results) -> Check:
    name = f"lann: with permuted labels the mean AUC is within {AROUND_CHANCE:g} of .5"
    aucs = results.permuted.get(OURS, [])
    found = mean(aucs)
    if found is None:
        return Check(name, "", NOT_MEASURED)
    near = abs(found - 0.5) <= AROUND_CHANCE + ROUNDING
    return Check(name, f"{found:.4f} ± {std(aucs):.4f}, {len(aucs)} fits", OK if near else SHORT)


def _all_above(name: str, margins: dict[str, float | None], missing: list[str] | None = None) -> Check:
    """One margin that is not above 0 is enough to fall short; to be ok takes all of them."""
    known = {what: margin for what, margin in margins.items() if margin is not None}
    short = sorted((margin, what) for what, margin in known.items() if margin <= ROUNDING)
    if short:
        return Check(name, f"behind {', '.join(f'{what} by {-margin:.4f}' for margin, what in short)}", SHORT)
    if not known:
        return Check(name, "", NOT_MEASURED)
    narrowest = min(known, key=known.__getitem__)
    measured = f"narrowest: {narrowest}, by {known[narrowest]:.4f}"
    if len(known) < len(margins) or missing:
        return Check(name, f"holds as far as measured; {measured}", NOT_MEASURED)
    return Check(name, measured, OK)


def _minus(value: float | None, other: float | None) -> float | None:
    return None if value is None or other is None else value - other

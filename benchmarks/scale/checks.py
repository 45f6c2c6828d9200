"""The checks of the scale benchmark."""

from __future__ import annotations

from benchmarks.engine import Check, Results, check
from benchmarks.engine.checks import check_at_least, check_at_most
from benchmarks.engine.tables import share
from benchmarks.scale.growth import exponent
from benchmarks.scale.methods import (
    BOOSTING,
    FOREST,
    KNN_1,
    KNN_5,
    LANN,
    LARGE_BOOSTING,
    LARGE_LIGHTGBM,
    LIGHTGBM,
    SCALED_KNN_1,
    SCALED_KNN_5,
)
from benchmarks.scale.plan import (
    COVERTYPE,
    COVERTYPE_NAME,
    DASK,
    DASK_FEATURES,
    DASK_ROWS,
    ROWS,
    SIZES,
    USPS_NAME,
    WIDE,
    reference_seconds,
    size_name,
    values_by_size,
    workers_name,
)

LARGEST, MOST_FEATURES = SIZES[-1], 50
MOST_TIMES_FAISS, MOST_GB = 3.0, 6.0
LEAST_SPEED, LEAST_RECALL = 5_000, 0.97
MOST_EXPONENT = 1.15
WIDE_SHAPE = (60, 10_000)
MOST_WIDE_FIT, MOST_WIDE_EXPLAIN = 20.0, 1.0
MOST_TIMES_FOREST = 2.0
MOST_BEHIND, MOST_TIMES_BOOSTING = 0.01, 5.0
LEAST_SPEEDUP = 1.6


def make_checks(results: Results, parts: list[str]) -> list[Check]:
    """Return the checks of some parts."""
    checks = []
    if ROWS in parts or "recall" in parts:
        checks += _rows(results)
    if COVERTYPE in parts:
        checks += _covertype(results)
    if WIDE in parts:
        checks += _wide(results)
    if DASK in parts:
        checks += _dask(results)
    return checks


def _rows(results: Results) -> list[Check]:
    found = results.part(ROWS)
    name = size_name(LARGEST, MOST_FEATURES)

    def value(score: str) -> float | None:
        return found.mean(LANN, name, score)

    seconds, other = value("fit_seconds"), reference_seconds(results, LARGEST, MOST_FEATURES)
    ratio = None if seconds is None or other is None else seconds / other
    speed, memory = value("rows_per_second"), value("peak_predict_gb")
    checks = [
        check_at_most(
            f"{name}: fit at most {MOST_TIMES_FAISS:g} times as long as faiss needs for its graph and "
            "50 neighbors of every row",
            ratio,
            MOST_TIMES_FAISS,
            f"{ratio:.2f} times: {seconds:.0f} s against {other:.0f} s" if ratio is not None else "",
        ),
        check_at_most(
            f"{name}: peak of the whole process below {MOST_GB:g} GB, from the fit to the end of predict",
            memory,
            MOST_GB,
            f"{memory:.2f} GB" if memory is not None else "",
        ),
        check_at_least(
            f"{name}: predict at least {LEAST_SPEED} rows/s",
            speed,
            LEAST_SPEED,
            f"{speed:.0f}" if speed is not None else "",
        ),
        check_at_least(
            f"{name}: recall of neighbors at least {LEAST_RECALL:g}", value("recall"), LEAST_RECALL
        ),
    ]
    for n_features in (20, MOST_FEATURES):
        times = values_by_size(found, LANN, "fit_seconds", n_features, SIZES)
        power = exponent(times) if len(times) == len(SIZES) else None
        checks.append(
            check_at_most(
                f"{n_features} features: fit grows at most as m^{MOST_EXPONENT:g} from 10k to 1M rows",
                power,
                MOST_EXPONENT,
                f"m^{power:.2f}" if power is not None else "",
            )
        )
    return checks


def _covertype(results: Results) -> list[Check]:
    found = results.part(COVERTYPE)

    def value(method: str, score: str = "accuracy") -> float | None:
        return found.mean(method, COVERTYPE_NAME, score)

    seconds, other = value(LANN, "fit_seconds"), value(BOOSTING, "fit_seconds")
    ratio = None if seconds is None or other is None else seconds / other

    def compare(requirement: str, methods: tuple[str, ...], margin: float) -> Check:
        own, others = value(LANN), {method: value(method) for method in methods}
        known = {method: one for method, one in others.items() if one is not None}
        if own is None or not known:
            return check(requirement, None)
        best = max(known, key=known.__getitem__)
        passed = own >= known[best] - margin - 1e-9
        measured = f"{share(own, 4)} against {share(known[best], 4)} ({best})"
        return check(requirement, passed if not passed or len(known) == len(others) else None, measured)

    defaults = (FOREST, BOOSTING, LIGHTGBM)
    return [
        compare(
            "covertype: at least as accurate as the best kNN",
            (KNN_1, KNN_5, SCALED_KNN_1, SCALED_KNN_5),
            0.0,
        ),
        compare(
            f"covertype: within {share(MOST_BEHIND, 2)} of the best of forest and boosting with defaults",
            defaults,
            MOST_BEHIND,
        ),
        compare(
            f"covertype: within {share(MOST_BEHIND, 2)} of the best, large boosting included",
            (*defaults, LARGE_BOOSTING, LARGE_LIGHTGBM),
            MOST_BEHIND,
        ),
        check_at_most(
            f"covertype: fit at most {MOST_TIMES_BOOSTING:g} times as long as {BOOSTING}",
            ratio,
            MOST_TIMES_BOOSTING,
            f"{ratio:.2f} times: {seconds:.0f} s against {other:.0f} s" if ratio is not None else "",
        ),
    ]


def _wide(results: Results) -> list[Check]:
    found = results.part(WIDE)
    name = size_name(*WIDE_SHAPE)
    fit, explain = (found.mean(LANN, name, score) for score in ("fit_seconds", "explain_seconds"))
    seconds = {method: found.values(method, USPS_NAME, "fit_seconds") for method in (LANN, FOREST)}
    ratio = min(seconds[LANN]) / min(seconds[FOREST]) if all(seconds.values()) else None
    return [
        check_at_most(f"{name}: fit below {MOST_WIDE_FIT:g} s", fit, MOST_WIDE_FIT, _seconds(fit)),
        check_at_most(
            f"{name}: explain a first row below {MOST_WIDE_EXPLAIN:g} s",
            explain,
            MOST_WIDE_EXPLAIN,
            _seconds(explain),
        ),
        check_at_most(
            f"{USPS_NAME}: fit at most {MOST_TIMES_FOREST:g} times as long as a forest of 300 trees",
            ratio,
            MOST_TIMES_FOREST,
            f"{ratio:.2f} times" if ratio is not None else "",
        ),
    ]


def _dask(results: Results) -> list[Check]:
    found = results.part(DASK)
    name = size_name(DASK_ROWS, DASK_FEATURES)
    one, two = (found.mean(workers_name(n), name, "fit_seconds") for n in (1, 2))
    speedup = None if one is None or two is None else one / two
    same = [found.mean(workers_name(n), name, score) for n in (1, 2) for score in ("same", "same_gathered")]
    known = [value for value in same if value is not None]
    return [
        check_at_least(
            f"Dask, {name}: a fit with two workers is {LEAST_SPEEDUP:g} times as fast as with one",
            speedup,
            LEAST_SPEEDUP,
            f"{speedup:.2f} times" if speedup is not None else "",
        ),
        check(
            f"Dask, {name}: the same predictions with any number of workers, and gathered in one process",
            all(value == 1.0 for value in known) if len(known) == len(same) else None,
            f"{100 * min(known):.2f} % are the same" if known else "",
        ),
    ]


def _seconds(value: float | None) -> str:
    return "" if value is None else f"{value:.2f} s"

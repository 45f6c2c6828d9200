"""Alarms beside river's detectors, on the same errors: how often without a change, and how late after one."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.harness import NAN, NONE, Check, Found, Job, Results, Table, Values, check, number
from lann._support.types import Floats, Labels
from lann.streams import SAMKNN, SAMLANN, DriftDetector

PART = "alarms"
MODELS = {"samlann": SAMLANN, "samknn": SAMKNN}
OURS, ADWIN = "alarms_", "ADWIN"
DETECTORS = (OURS, ADWIN, "PageHinkley", "KSWIN")  # the slowest last
PARAMETERS: dict[str, dict[str, Any]] = {"KSWIN": {"seed": 0}, "PageHinkley": {"mode": "up"}}
REPEATS, N_QUICK = 2, 2
# The streams that KSWIN reads, in the first repeat.
SHORT = ("SEA", "SEA 2 to 3", "plane, 10 % noise", "plane by 20°", "Sine 0 to 1", "tree")
UNCHANGED, SHUFFLED = "unchanged", "shuffled"
N_STATIONARY = 20_000
# Number of rows, those at which the concept changes, and for how many rows the concepts are mixed.
DRIFTS = {
    "sudden": (9000, (6000,), 0),
    "gradual": (11_000, (6000,), 2000),
    "recurring": (11_500, (4000, 6500, 9000), 0),
}
Stream = tuple[Floats, Labels]
# Rows by the variant of the concept, their number and a seed.
Concept = Callable[[int, int, int], Stream]


def draw(generator: str, variant: str, seed_name: str = "seed", **parameters: Any) -> Concept:
    """Return the concepts of one of river's generators, by the value of its parameter `variant`, if any."""

    def concept(number: int, n_rows: int, seed: int) -> Stream:
        make = getattr(import_module("river.datasets.synth"), generator)
        stream = make(**parameters, **{variant: number, seed_name: seed})
        rows, labels = zip(*stream.take(n_rows), strict=True)
        return np.array([list(row.values()) for row in rows], np.float64), np.array(labels, np.int64)

    return concept


def waveform(number: int, n_rows: int, seed: int) -> Stream:
    """Return three classes of waves, whose labels are moved by a number."""
    X, y = draw("Waveform", "seed")(0, n_rows, seed)
    return X, (y + number) % 3


def plane(noise: float) -> Concept:
    """Return two classes beside a plane at some degrees, with a share of wrong labels."""

    def concept(degrees: int, n_rows: int, seed: int) -> Stream:
        rng = np.random.default_rng(seed)
        X, angle = rng.normal(size=(n_rows, 6)), np.deg2rad(degrees)
        is_above = X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle) > 0
        return X, (is_above ^ (rng.random(n_rows) < noise)).astype(np.int64)

    return concept


SEA = draw("SEA", "variant", noise=0.1)
SINE = draw("Sine", "classification_function", has_noise=True)
MIXED = draw("Mixed", "classification_function")
STAGGER = draw("STAGGER", "classification_function")
AGRAWAL = draw("Agrawal", "classification_function", perturbation=0.05)
LED = draw("LED", "seed", noise_percentage=0.1, irrelevant_features=True)
RBF = draw("RandomRBF", "seed_model", "seed_sample", n_classes=4, n_features=8, n_centroids=20)
TREE = draw("RandomTree", "seed_tree", "seed_sample", n_classes=3)
# Concepts with a variant, and with two of them.
STATIONARY: dict[str, tuple[Concept, int]] = {
    "SEA": (SEA, 0), "plane, no noise": (plane(0.0), 0), "Sine": (SINE, 0), "Mixed": (MIXED, 0),
    "STAGGER": (STAGGER, 0),
    "Agrawal": (AGRAWAL, 2), "LED": (LED, 0), "RBF": (RBF, 50), "tree": (TREE, 50), "Waveform": (waveform, 0),
    **{f"plane, {noise} % noise": (plane(noise / 100), 0) for noise in (2, 10, 20, 30, 45)},
}  # fmt: skip
CHANGES: dict[str, tuple[Concept, int, int]] = {
    "SEA 2 to 3": (SEA, 2, 3), "plane by 20°": (plane(0.05), 0, 20), "Sine 0 to 1": (SINE, 0, 1),
    "Sine 0 to 2": (SINE, 0, 2), "Mixed 0 to 1": (MIXED, 0, 1), "STAGGER 0 to 1": (STAGGER, 0, 1),
    "Agrawal 0 to 3": (AGRAWAL, 0, 3), "RBF": (RBF, 50, 51), "tree": (TREE, 50, 51),
    "Waveform": (waveform, 0, 1), "plane by 10°": (plane(0.05), 0, 10), "plane by 45°": (plane(0.05), 0, 45),
    "plane by 90°": (plane(0.05), 0, 90), "plane by 20°, no noise": (plane(0.0), 0, 20),
    "plane by 45°, 20 % noise": (plane(0.2), 0, 45), "plane by 90°, 30 % noise": (plane(0.3), 0, 90),
}  # fmt: skip


def drifting(kind: str, name: str, seed: int) -> Stream:
    """Return a stream whose concept changes once, gradually, or there and back."""
    concept, *variants = CHANGES[name]
    n_rows, changes, width = DRIFTS[kind]
    is_second = np.searchsorted(changes, np.arange(n_rows), side="right") % 2 == 1
    if width:
        share = np.clip((np.arange(n_rows) - changes[0]) / width, 0.0, 1.0)
        is_second = np.random.default_rng(seed).random(n_rows) < share
    (X, y), (other_X, other_y) = (concept(v, n_rows, 10 * seed + i) for i, v in enumerate(variants))
    return np.where(is_second[:, None], other_X, X), np.where(is_second, other_y, y)


def shuffle(read: Callable[[], Stream], seed: int) -> Stream:
    """Return rows of a stream in random order, and so without a change."""
    X, y = read()
    rows = np.random.default_rng(seed).permutation(len(y))[:N_STATIONARY]
    return X[rows], y[rows]


def find_alarms(detector: str, errors: Sequence[bool]) -> list[int]:
    """Return the rows at which a detector with its default parameters raises an alarm."""
    if detector == OURS:
        return [alarm.row for alarm in DriftDetector().update(errors)]
    test = getattr(import_module("river.drift"), detector)(**PARAMETERS.get(detector, {}))
    found = []
    for row, is_error in enumerate(errors):
        test.update(is_error)
        if test.drift_detected:
            found.append(row)
    return found


def measure(
    model: str, make: Callable[[], Stream], changes: Sequence[int], detectors: Sequence[str]
) -> Found:
    """Run a classifier over a stream and the detectors over its errors.

    If there is no alarm before the next change or the end, the delay is the number of rows up to it.
    """
    X, y = make()
    estimator = MODELS[model](random_state=0)
    probabilities = estimator.test_then_train(X, y)
    errors = (estimator.classes_[probabilities.argmax(axis=1)] != y).tolist()
    found: Found = {}
    for detector in detectors:
        alarms = np.array(find_alarms(detector, errors))
        n_rows = changes[0] if changes else len(y)
        ends = (*changes[1:], len(y))
        firsts = [int(min([*alarms[alarms >= change], len(y)])) for change in changes]
        found[detector] = {
            "n_rows": n_rows,
            "n_false": int(np.sum(alarms < n_rows)),
            "n_resets": estimator.n_resets_,
            "delays": [
                min(row, end) - change for row, end, change in zip(firsts, ends, changes, strict=False)
            ],
            "n_missed": sum(row >= end for row, end in zip(firsts, ends, strict=False)),
        }
    return found


def jobs(files: Mapping[str, Callable[[], Stream]], *, quick: bool) -> Iterator[Job]:
    """Yield the jobs; `files` read streams, which are shuffled."""
    most = N_QUICK if quick else None
    streams: list[tuple[str, str, Callable[[int], Stream]]] = []
    for name, (concept, variant) in list(STATIONARY.items())[:most]:
        streams.append((UNCHANGED, name, partial(concept, variant, N_STATIONARY)))
    for name, read in list(files.items())[:most]:
        streams.append((SHUFFLED, name, partial(shuffle, read)))
    for kind in DRIFTS:
        streams += [(kind, name, partial(drifting, kind, name)) for name in list(CHANGES)[:most]]
    for repeat in range(1 if quick else REPEATS):
        for kind, name, make in streams:
            changes = DRIFTS[kind][1] if kind in DRIFTS else ()
            for model in MODELS:
                is_short = (model, repeat) == ("samlann", 0) and name in SHORT and not quick
                detectors = DETECTORS if is_short else DETECTORS[:-1]
                run = partial(measure, model, partial(make, repeat), changes, detectors)
                yield Job(PART, model, f"{model}, {kind}: {name}", repeat, run, (changes, detectors))


def cells(results: Results, prefix: str, detector: str) -> list[Values]:
    """Return the values of a detector on all streams of a kind, and in all repeats."""
    names = [name for name in results.data_sets(PART) if name.startswith(prefix)]
    return [values for name in names for values in results.cell(PART, detector, name).values()]


def false_rate(values: Sequence[Values], score: str = "n_false") -> float:
    """Return the number of false alarms in 10 000 rows."""
    return 1e4 * sum(v[score] for v in values) / sum(v["n_rows"] for v in values) if values else NAN


def rate_text(rate: float) -> str:
    return NONE if rate != rate else f"{rate:.2f}"


def mean_delay(values: Sequence[Values]) -> float:
    delays = [delay for one in values for delay in one["delays"]]
    return statistics.fmean(delays) if delays else NAN


def worst_rate(results: Results, prefix: str, detector: str) -> float:
    """Return the largest rate of false alarms on a stream."""
    names = [name for name in results.data_sets(PART) if name.startswith(prefix)]
    rates = [false_rate(list(results.cell(PART, detector, name).values())) for name in names]
    return max((rate for rate in rates if rate == rate), default=NAN)


def tables(results: Results) -> Iterator[Table]:
    """Make the tables of false alarms and of delays."""
    detectors = [name for name in DETECTORS if name in results.methods(PART)]
    rows = []
    for model in MODELS:
        for kind in (UNCHANGED, SHUFFLED, *DRIFTS):
            prefix = f"{model}, {kind}"
            if not (found := cells(results, prefix, OURS)):
                continue
            rates = [false_rate(cells(results, prefix, name)) for name in detectors]
            resets = number(false_rate(found, "n_resets")) if kind not in DRIFTS else ""
            before = ", before the first change" if kind in DRIFTS else ""
            rows.append((f"{prefix}{before}", *map(rate_text, rates), resets))
            if kind == UNCHANGED:
                worst = [worst_rate(results, prefix, name) for name in detectors]
                rows.append((f"{prefix}, worst stream", *map(rate_text, worst), ""))
    yield Table("False alarms in 10 000 rows", ("", *detectors, "memory resets"), rows)
    rows = []
    for model in MODELS:
        for kind in DRIFTS:
            prefix, texts = f"{model}, {kind}", []
            for name in detectors:
                values = cells(results, prefix, name)
                missed = sum(v["n_missed"] for v in values) / max(sum(len(v["delays"]) for v in values), 1)
                texts.append(f"{number(mean_delay(values))} ({100 * missed:.0f} %)" if values else NONE)
            if cells(results, prefix, OURS):
                rows.append((prefix, *texts))
    note = (
        "In parentheses: changes without an alarm before the next change or the end; their delay is the "
        "number of rows up to it. All detectors read the same errors, with default parameters; ADWIN and "
        "KSWIN also raise alarms when errors become fewer. KSWIN, which is slow, reads a few streams only."
    )
    yield Table("Delay in rows", ("", *detectors), rows, [note])


def checks(results: Results) -> list[Check]:
    """Check the rate of false alarms and the delays beside ADWIN's."""
    found = []
    for model in MODELS:
        for kind in (UNCHANGED, SHUFFLED):
            rate = false_rate(cells(results, f"{model}, {kind}", OURS))
            name = f"alarms: at most 1 false alarm in 10 000 rows of {kind} streams, {model}"
            found.append(check(name, rate, most=1))
        for kind in DRIFTS:
            own, other = (mean_delay(cells(results, f"{model}, {kind}", name)) for name in (OURS, ADWIN))
            name = f"alarms: delay after {kind} changes at most 1.5 times ADWIN's, {model}"
            found.append(check(name, own / other, most=1.5))
    return found

"""The figures of `lann bench paper` for programs."""

from __future__ import annotations

from typing import Any

from lann.bench.checks import Check
from lann.bench.compare import Comparison
from lann.bench.published import published_accuracy
from lann.bench.results import Results

Record = dict[str, Any]


def records(results: Results, comparisons: list[Comparison], checks: list[Check]) -> list[Record]:
    """
    One list; the `kind` of a record says what it is.

    ``figure``: a method on a data set. ``mean``: a method over all data sets. ``failure`` and ``skipped``:
    a method on a data set, or a data set, that could not be measured. ``comparison`` and ``check``.
    """
    run = {"protocol": results.protocol, "seed": results.seed}
    figures = [
        {"kind": "figure", **run, **record}
        for method in results.methods
        for name in results.data_sets
        if (record := _figure(results, method.name, name, method.published)) is not None
    ]
    means = [
        {"kind": "mean", **run, "method": method.name, "data_set": "mean", **_means(results, method.name)}
        for method in results.methods
        if results.over_sets(method.name) is not None
    ]
    failures = [
        {"kind": "failure", **run, "method": method, "data_set": name, "reason": reason}
        for (method, name), reason in results.failures.items()
    ]
    skipped = [
        {"kind": "skipped", **run, "data_set": name, "reason": reason}
        for name, reason in results.skipped.items()
    ]
    compared = [{"kind": "comparison", **run, **comparison.as_dict()} for comparison in comparisons]
    checked = [{"kind": "check", **run, **check.as_dict()} for check in checks]
    return [*figures, *means, *failures, *skipped, *compared, *checked]


def _figure(results: Results, method: str, data_set: str, column: str | None) -> Record | None:
    mean = results.mean(method, data_set)
    if mean is None:
        return None
    published = published_accuracy(data_set, column)
    cell = results.cell(method, data_set)
    return {
        "method": method,
        "data_set": data_set,
        "mean": mean,
        "std": results.std(method, data_set),
        "seconds": results.mean(method, data_set, "fit_seconds"),
        "predict_seconds": results.mean(method, data_set, "predict_seconds"),
        "balanced_accuracy": results.mean(method, data_set, "balanced_accuracy"),
        "log_loss": results.mean(method, data_set, "log_loss"),
        "ece": results.mean(method, data_set, "ece"),
        "n_splits": len(cell),
        "n_train": cell[min(cell)].n_train,
        "n_test": cell[min(cell)].n_test,
        "published": published,
        "difference": None if published is None else mean - published,
        "accuracies": {split: cell[split].accuracy for split in sorted(cell)},
    }


def _means(results: Results, method: str) -> Record:
    return {
        "mean": results.over_sets(method),
        "seconds": results.over_sets(method, "fit_seconds"),
        "predict_seconds": results.over_sets(method, "predict_seconds"),
        "balanced_accuracy": results.over_sets(method, "balanced_accuracy"),
        "log_loss": results.over_sets(method, "log_loss"),
        "ece": results.over_sets(method, "ece"),
        "n_sets": len(results.data_sets),
    }

"""The figures of a run as JSON records."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import lann
from benchmarks.engine.benchmark import Benchmark, Record, Report
from benchmarks.engine.results import PartResults, Results

NOT_RECORDED = ("json_file", "markdown_file", "results", "fresh")


def make_records(benchmark: Benchmark[Any], results: Results, report: Report) -> list[Record]:
    """
    Return one list; the `kind` of a record says what it is.

    ``run``: the benchmark and its options. ``figure``: a method on a data set in a part of the benchmark;
    `mean` and `std` are those of its main score, which is named by `score`. ``failure`` and ``skipped``: what
    could not be measured. ``check``: a check. A benchmark may add further kinds.
    """
    options = {
        declared.name: getattr(benchmark.options, declared.name)
        for declared in fields(benchmark.options)
        if declared.name not in NOT_RECORDED
    }
    options = {name: str(value) if isinstance(value, Path) else value for name, value in options.items()}
    return [
        {"kind": "run", "benchmark": benchmark.name, "lann": lann.__version__, "options": options},
        *(
            _figure(results.part(part, benchmark.main_scores[part]), method, data_set)
            | report.figure_fields.get((part, method, data_set), {})
            for part, method, data_set in results.cells
            if results.part(part).cell(method, data_set)
        ),
        *report.records,
        *(
            {"kind": "failure", "part": part, "method": method, "data_set": name, "reason": reason}
            for (part, method, name), reason in results.failures.items()
        ),
        *({"kind": "skipped", "name": name, "reason": text} for name, text in results.skipped.items()),
        *({"kind": "check", **check.as_dict()} for check in report.checks),
    ]


def _figure(part: PartResults, method: str, data_set: str) -> Record:
    cell = part.cell(method, data_set)
    first = next(iter(cell.values()))
    scores = [name for name in first if part.values(method, data_set, name)]
    numbers = [name for name in scores if _is_number(first[name])]
    seconds = next((name for name in ("seconds", "fit_seconds") if name in numbers), None)
    return {
        "kind": "figure",
        "part": part.name,
        "method": method,
        "data_set": data_set,
        "score": part.score,
        "mean": part.mean(method, data_set),
        "std": part.std(method, data_set),
        "seconds": part.mean(method, data_set, seconds) if seconds else None,
        "n_repeats": len(cell),
        "values": {str(repeat): values.get(part.score) for repeat, values in cell.items()},
        "scores": {
            name: {"mean": part.mean(method, data_set, name), "std": part.std(method, data_set, name)}
            for name in numbers
        },
        # Texts and truth values do not depend on the repeat.
        **{name: first[name] for name in scores if isinstance(first[name], str | bool)},
    }


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)

"""Accuracy, probabilities and time on the paper's data sets, beside the published figures."""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Iterator
from functools import partial

from benchmarks.harness import NAN, Check, Report, Results, Table, check, highlight, number, share
from benchmarks.tabular import (
    PUBLISHED,
    PUBLISHED_COLUMNS,
    SCORES,
    Source,
    SplitBenchmark,
    choose_paper_sets,
    load_sets,
    means_table,
    set_table,
)

PART, OURS = "splits", "lann"
SETS = tuple(PUBLISHED)
COLUMNS = {"accuracy": "accuracy", "balanced_accuracy": "balanced", **SCORES}
TIMED_SETS = ("letter-recognition", "pen-digits")


class Paper(SplitBenchmark):
    quick = "small data sets, 3 splits, and no slow methods."
    splits = (10, 3)

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        SplitBenchmark.add_options(parser)
        text = "paper: train on 25 %% and test on 75 %%; cv: 10-fold cross-validation."
        parser.add_argument("--protocol", choices=("paper", "cv"), default="paper", help=text)

    def load(self) -> dict[str, list[Source]]:
        found, skipped = load_sets(choose_paper_sets(self.options.data, self.options.quick))
        self.skipped.update(skipped)
        protocol = self.options.protocol
        found.sort(key=lambda data: -data.X.size)
        sources = [Source(d.name, d.digest + protocol, partial(d.task, protocol=protocol)) for d in found]
        return {PART: sources}

    def report(self, results: Results) -> Report:
        names = sorted(source.name for source in self.sources[PART])
        tables = [self._accuracy_table(results, names)]
        tables.append(means_table(results, self.methods, names, COLUMNS))
        rows = [
            (
                name,
                *(number(results.mean(PART, name, names, f"{kind}_seconds")) for kind in ("fit", "predict")),
            )
            for name in self.names
        ]
        tables.append(Table("Seconds, means over the data sets", ("", "fit s", "predict s"), rows))
        tables.append(self._comparison_table(results, names))
        if self.options.details:
            tables += [set_table(results, score, self.names, names, score) for score in COLUMNS]
        how = (
            "trained on 25 %, tested on 75 %"
            if self.options.protocol == "paper"
            else "10-fold cross-validation"
        )
        introduction = f"{self.scope}: {how}, stratified and shuffled, z-scored on the training part."
        return Report(introduction, tables, self._checks(results))

    def _accuracy_table(self, results: Results, names: list[str]) -> Table:
        rows: list[tuple[str, ...]] = [("as published",)]
        for column in PUBLISHED_COLUMNS:
            values = [published(name, column) for name in names]
            rows.append((column, *(share(value, 2) for value in [*values, statistics.fmean(values)])))
        means = {m: [results.mean(PART, m, data, "accuracy") for data in [*names, names]] for m in self.names}
        columns = [
            highlight([share(v) for v in values], values) for values in zip(*means.values(), strict=True)
        ]
        cells = dict(zip(self.names, zip(*columns, strict=True), strict=True))
        for group in dict.fromkeys(method.group for method in self.methods):
            rows += [(group,), *((m.name, *cells[m.name]) for m in self.methods if m.group == group)]
        rows.append(("difference from the published figure, in thousandths",))
        for method in self.methods:
            if method.published:
                differences = [
                    means[method.name][i] - published(n, method.published) for i, n in enumerate(names)
                ]
                differences.append(statistics.fmean(differences))
                rows.append((method.name, *(number(1000 * value) for value in differences)))
        notes = ["The published figures are for training on a quarter of the rows."]
        return Table("Accuracy", ("accuracy", *names, "mean"), rows, notes)

    def _comparison_table(self, results: Results, names: list[str]) -> Table:
        rows = []
        for other in self.names:
            pairs = [compare(results, other, name) for name in names]
            known = [pair for pair in pairs if not math.isnan(pair[0])]
            if other != OURS and known:
                verdicts = [(d > 0) - (d < 0) if p < 0.05 else 0 for d, p in known]
                counts = (str(verdicts.count(verdict)) for verdict in (1, 0, -1))
                ahead = f"{sum(d > 1e-12 for d, _ in known)} of {len(known)}"
                mean = statistics.fmean(d for d, _ in known)
                rows.append((other, ahead, *counts, f"{mean:+.4f}"))
        for column in PUBLISHED_COLUMNS:
            means = [results.mean(PART, OURS, name, "accuracy") - published(name, column) for name in names]
            known_means = [mean for mean in means if not math.isnan(mean)]
            if known_means and self.options.protocol == "paper":
                ahead = f"{sum(mean > 1e-12 for mean in known_means)} of {len(known_means)}"
                rows.append(
                    (f"published {column}", ahead, "", "", "", f"{statistics.fmean(known_means):+.4f}")
                )
        note = "Wins and losses: corrected resampled t-test of Nadeau and Bengio, p < .05, on each data set."
        head = ("lann compared with", "ahead on", "wins", "ties", "losses", "mean difference")
        return Table("LANN compared with the others", head, rows, [note])

    def _checks(self, results: Results) -> list[Check]:
        if self.options.protocol != "paper":
            return []
        mean = partial(results.mean, PART)

        def margin(other: str, names: tuple[str, ...] = SETS, score: str = "accuracy") -> list[float]:
            return [mean(OURS, name, score) - mean(other, name, score) for name in names]

        below = [mean(OURS, n, "accuracy") - published(n, "LANN") + PUBLISHED[n][4] for n in SETS]
        knn = [abs(mean("knn", n, "accuracy") - published(n, "kNN")) for n in SETS if n not in NOT_REPRODUCED]
        forest = margin("forest")
        n_ahead = NAN if math.isnan(sum(forest)) else sum(value > 1e-9 for value in forest)
        return [
            check("lann: mean accuracy at least .958", mean(OURS, SETS, "accuracy"), least=0.958),
            check("lann: mean log-loss as returned at most .145", mean(OURS, SETS, "log_loss"), most=0.145),
            check("lann: mean ECE at most .03", mean(OURS, SETS, "ece"), most=0.03),
            check(
                "lann: on no set below the published LANN by more than its deviation", lowest(below), least=0
            ),
            *self._reproduction_checks(results),
            check(
                "lann: on no set below knn-distance by more than .005",
                lowest(margin("knn-distance")),
                least=-0.005,
            ),
            check("lann: ahead of forest on at least 9 of 13 sets", n_ahead, least=9),
            check(
                f"knn: the published column within .015, except {NOT_REPRODUCED}",
                -lowest([-v for v in knn]),
                most=0.015,
            ),
            *(
                check(
                    f"lann: fits no slower than {other} on {' and '.join(TIMED_SETS)}, s",
                    -lowest([-value for value in margin(other, TIMED_SETS, "fit_seconds")]),
                    most=0,
                )
                for other in ("nca", "forest")
            ),
            *(
                check(
                    f"lann: mean {score} no worse than that of knn-distance",
                    mean(OURS, SETS, score) - mean("knn-distance", SETS, score),
                    most=0,
                )
                for score in ("ece", "log_loss_floored")
            ),
        ]

    def _reproduction_checks(self, results: Results) -> Iterator[Check]:
        """Check that the paper's algorithm has the paper's figures."""
        for method, least in (("lann-published", 0.918), ("lann-published-cv", 0.926)):
            values = [results.mean(PART, method, name, "accuracy") for name in SETS]
            behind = [value - published(name, "LANN") for name, value in zip(SETS, values, strict=True)]
            mean = statistics.fmean(values)
            yield check(f"{method}: mean accuracy at least {share(least)}", mean, least=least)
            yield check(
                f"{method}: on no set below the published LANN by more than .03", lowest(behind), least=-0.03
            )


NOT_REPRODUCED = ("image-segmentation", "usps")


def published(name: str, column: str) -> float:
    """Return an accuracy of the paper; NaN if there is none."""
    return (
        dict(zip(PUBLISHED_COLUMNS, PUBLISHED[name][:4], strict=True))[column] if name in PUBLISHED else NAN
    )


def lowest(values: list[float]) -> float:
    """Return the least value; NaN if one is missing."""
    return NAN if math.isnan(sum(values)) else min(values)


def compare(results: Results, other: str, name: str) -> tuple[float, float]:
    """Return the mean difference of the accuracies over the splits, and a p-value."""
    from scipy import stats

    left, right = (results.cell(PART, method, name) for method in (OURS, other))
    differences = [left[i]["accuracy"] - right[i]["accuracy"] for i in left.keys() & right.keys()]
    if len(differences) < 2:
        return (differences[0] if differences else NAN), 1.0
    mean, variance = statistics.fmean(differences), statistics.variance(differences)
    if variance == 0:
        return mean, 1.0 if mean == 0 else 0.0
    sizes = next(iter(left.values()))
    t = mean / math.sqrt((1 / len(differences) + sizes["n_test"] / sizes["n_train"]) * variance)
    return mean, float(2 * stats.t.sf(abs(t), len(differences) - 1))


BENCHMARK = Paper

"""Accuracy of embeddings on held-out rows beside PCA, LDA, GMLVQ, LMNN, UMAP and LGMLVQ; cost beside UMAP."""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import (
    NAN,
    Benchmark,
    Check,
    Found,
    Job,
    Report,
    Results,
    Table,
    Values,
    check,
    number,
    positive,
    share,
    time_in_turns,
)
from benchmarks.paper import lowest
from benchmarks.tabular import load_set, load_sets
from lann import LANNClassifier
from lann._support.types import Floats, Indices, Labels
from lann.datasets import make_licorice
from lann.embedding import (
    LANNEmbedding,
    NeighborEmbedding,
    Panel,
    compare_embeddings,
    make_panel,
    pair_error,
    paper_embeddings,
)
from lann.training import Settings

ALIGNED, ANY, SEGMENTATION, COST = PARTS = ("licorice", "licorice-any", "segmentation", "cost")
SEGMENTATION_SET = "image-segmentation"
# Class indices in image segmentation.
FOLIAGE, WINDOW = 2, 6
HELD_OUT = 0.3
N_CYLINDERS = 5
# A cylinder changes its class only across its axis: each point has to learn a single direction.
CYLINDERS: dict[str, Any] = {"metric": "full", "levels": ("point",), "n_candidates": 400, "max_iter": 20}


class WithoutFeatureDropout(LANNClassifier):
    """A classifier that is trained on all of few features in every step."""

    def _settings(self, class_weight: Floats | None) -> Settings:
        return super()._settings(class_weight).replace(feature_dropout=0.0)


class CylinderClassifier(WithoutFeatureDropout):
    """A classifier whose constants suit few features in which every row has another direction."""

    def _settings(self, class_weight: Floats | None) -> Settings:
        return super()._settings(class_weight).replace(candidate_dropout=0.85, smoothing=0.3)


@dataclass(frozen=True)
class Sizes:
    """
    How much is measured.

    Parameters
    ----------
    n_seeds
        Data are generated and split with the seeds 0 … n_seeds − 1. (Seeds from 1000 on are for tuning.)
    n_licorice
        Rows of a Licorice data set.
    n_segmentation
        Rows of image segmentation, the first of a random order; None for all.
    timed_rows, timed_features
        Rows and features of the generated data on which the cost is measured.
    timed_turns
        Turns of each side there, and on image segmentation.
    large_rows
        Rows of larger generated data, on which each side runs once.
    """

    n_seeds: int = 5
    n_licorice: int = 3000
    n_segmentation: int | None = None
    timed_rows: int = 10_000
    timed_features: int = 20
    timed_turns: int = 5
    large_rows: int = 50_000


FULL = Sizes()
QUICK = Sizes(n_seeds=1, n_licorice=1000, n_segmentation=1000)


@dataclass(frozen=True)
class Task:
    """
    A data set in two parts.

    Parameters
    ----------
    part
        One of `PARTS`.
    X, y : rows that are embedded, (n_train, n_features) and (n_train,)
    X_test, y_test : held-out rows, which are transformed, (n_test, n_features) and (n_test,)
    classifier
        The classifier of LANN's embedding, not fitted.
    seed
        Seed of the data and of the methods.
    others
        Further classifiers of LANN, by the name of their row.
    prototypes_per_class
        Parameter of GMLVQ and LGMLVQ.
    cylinders, cylinders_test : (n_train,) and (n_test,) the cylinder of each row; None unless Licorice
    """

    part: str
    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels
    classifier: LANNClassifier
    seed: int
    others: dict[str, LANNClassifier] = field(default_factory=dict)
    prototypes_per_class: int = 1
    cylinders: Indices | None = None
    cylinders_test: Indices | None = None


def _licorice(seed: int, sizes: Sizes, n_jobs: int, *, aligned: bool) -> Task:
    X, y, axes = make_licorice(
        sizes.n_licorice, n_cylinders=N_CYLINDERS, axis_aligned=aligned, random_state=seed, return_axes=True
    )
    train, test = _split(y, seed)
    weights = WithoutFeatureDropout(n_jobs=n_jobs, random_state=seed)
    return Task(
        ALIGNED if aligned else ANY, X[train], y[train], X[test], y[test],
        CylinderClassifier(**CYLINDERS, n_jobs=n_jobs, random_state=seed), seed,
        # Feature weights can describe cylinders along the axes, but no others.
        others={"LANN diagonal": weights} if aligned else {},
        # Each cylinder can have its own metric, inside and outside.
        prototypes_per_class=N_CYLINDERS,
        cylinders=axes.membership[train], cylinders_test=axes.membership[test],
    )  # fmt: skip


def _segmentation(seed: int, sizes: Sizes, n_jobs: int) -> Task:
    data = load_set(SEGMENTATION_SET)
    X, y = data.X, data.y
    if sizes.n_segmentation is not None:
        chosen = np.random.default_rng(seed).permutation(len(X))[: sizes.n_segmentation]
        X, y = X[chosen], y[chosen]
    train, test = _split(y, seed)
    classifier = LANNClassifier(n_jobs=n_jobs, random_state=seed)
    return Task(SEGMENTATION, X[train], y[train], X[test], y[test], classifier, seed)


def _split(y: Labels, seed: int) -> tuple[Indices, Indices]:
    train, test = train_test_split(np.arange(len(y)), test_size=HELD_OUT, stratify=y, random_state=seed)
    return train, test


OURS = "LANN"
# Rules that make distances symmetric.
RULES = ("min", "mean", "max")
METHODS = ("PCA", "LDA", "GMLVQ", "LMNN", "UMAP", "LGMLVQ", OURS)
VARIANTS = ("LANN diagonal", *(f"LANN {rule}" for rule in RULES))
COMPARISON = "all methods"
QUALITY = (
    "accuracy",
    "held_out_accuracy",
    "trustworthiness",
    "continuity",
    "neighborhood_preservation",
)


def measure_task(task: Task, n_jobs: int) -> Found:
    """
    Compare the methods of the paper, and variants of LANN.

    Returns
    -------
    found
        By method: the scores of `QUALITY`, see `lann.embedding.EmbeddingQuality`; ``around`` and
        ``least_around``, for Licorice, from `outside_around`, mean and least over the cylinders;
        ``pair_error``, for image segmentation: the share of held-out foliage and windows that are confused
        with each other; ``seconds`` to fit and to transform all rows. "all methods" has the ``seconds`` of
        the comparison of the paper's methods.
    """
    embeddings = paper_embeddings(
        classifier=task.classifier,
        prototypes_per_class=task.prototypes_per_class,
        random_state=task.seed,
        n_jobs=n_jobs,
    )
    start = time.perf_counter()
    comparison = compare_embeddings(task.X, task.y, task.X_test, task.y_test, embeddings=embeddings)
    seconds = time.perf_counter() - start
    panels = [*comparison, *_variants(task, comparison[OURS].estimator[-1].classifier_, n_jobs)]
    return {
        COMPARISON: {"seconds": seconds},
        **{panel.name: _values(panel, task) for panel in panels},
    }


def _variants(task: Task, fitted: Any, n_jobs: int) -> list[Panel]:
    """Embed with other rules that make distances symmetric, under the same metrics, and other classifiers."""
    common = {"random_state": task.seed, "n_jobs": n_jobs}
    embeddings = {
        **{name: LANNEmbedding(other, **common) for name, other in task.others.items()},
        **{f"LANN {rule}": LANNEmbedding(FrozenEstimator(fitted), symmetry=rule, **common) for rule in RULES},
    }
    return [
        make_panel(
            name,
            make_pipeline(StandardScaler(), embedding),
            (task.X, task.y),
            (task.X_test, task.y_test),
            classifier=fitted,
        )
        for name, embedding in embeddings.items()
    ]


def _values(panel: Any, task: Task) -> Values:
    values: Values = {name: getattr(panel.quality, name) for name in QUALITY}
    values |= {"around": None, "least_around": None, "pair_error": None, "seconds": panel.seconds}
    if task.cylinders is not None and task.cylinders_test is not None:
        around = outside_around(
            (panel.coordinates, task.y, task.cylinders),
            (panel.held_out_coordinates, task.y_test, task.cylinders_test),
        )
        values |= {"around": float(around.mean()), "least_around": float(around.min())}
    if task.part == SEGMENTATION:
        values["pair_error"] = pair_error(panel.held_out_labels, panel.held_out_predictions, FOLIAGE, WINDOW)
    return values


Embedded = tuple[Floats, Labels, Indices]
"""Coordinates (n_rows, 2), 1 for inside and 0 for outside (n_rows,), cylinders (n_rows,)."""


def outside_around(train: Embedded, held_out: Embedded) -> Floats:
    """
    Measure whether the outside of each cylinder surrounds its inside in the embedding.

    The center of a cylinder is the median of its inside training rows. The score is the share of pairs of
    held-out rows of which the outside row is farther from the center than the inside row: an area under the
    curve, .5 by chance.

    Returns
    -------
    scores : (n_cylinders,)
    """
    positions, inside, cylinders = train
    positions_test, inside_test, cylinders_test = held_out
    scores = []
    for cylinder in np.unique(cylinders):
        center = np.median(positions[(cylinders == cylinder) & (inside == 1)], axis=0)
        own = cylinders_test == cylinder
        distances = np.linalg.norm(positions_test[own] - center, axis=1)
        scores.append(roc_auc_score(inside_test[own] == 0, distances))
    return np.array(scores)


N_NEIGHBORS = 15
# With a fitted classifier, with the fit of the classifier, and the transform of new rows.
PREFIT, WITH_FIT, TRANSFORM = "prefit", "with fit", "transform"
N_NEW = 500


def timed_sets(sizes: Sizes) -> dict[str, int]:
    """Return the names of the data sets on which the cost is measured, and the turns on each."""
    return {
        SEGMENTATION_SET: sizes.timed_turns,
        generated_name(sizes.timed_rows, sizes): sizes.timed_turns,
        generated_name(sizes.large_rows, sizes): 1,
    }


def generated_name(n_rows: int, sizes: Sizes) -> str:
    """Return the name of a generated data set with `n_rows` rows."""
    return f"generated, {n_rows} × {sizes.timed_features}"


def measure_costs(data_set: str, sizes: Sizes) -> Found:
    """Time embeddings with and without the fit of the classifier, and of new rows, beside UMAP in turns."""
    from umap import UMAP

    X, y = _load(data_set, sizes)
    n_turns = timed_sets(sizes)[data_set]
    parameters: dict[str, Any] = {"n_neighbors": N_NEIGHBORS, "random_state": 0}
    classifier = LANNClassifier(random_state=0)
    fitted = clone(classifier).fit(X, y)
    plain = UMAP(force_approximation_algorithm=True, **parameters)
    embedding = LANNEmbedding(FrozenEstimator(fitted), **parameters)
    new = (X[:N_NEW] + X[-N_NEW:]) / 2
    sides = {
        PREFIT: (lambda: embedding.fit(X), lambda: plain.fit(X)),
        WITH_FIT: (lambda: LANNEmbedding(classifier, **parameters).fit(X, y), lambda: plain.fit(X)),
        TRANSFORM: (lambda: embedding.transform(new), lambda: plain.transform(new)),
    }
    found = {}
    for name, (ours, other) in sides.items():
        times = time_in_turns(ours, other, repeats=n_turns, warm_up=n_turns > 1)
        ratios = [one / two for one, two in zip(*times, strict=True)]
        seconds, umap_seconds = map(statistics.median, times)
        spread = statistics.stdev(ratios) if n_turns > 1 else 0.0
        found[name] = {
            "seconds": seconds,
            "umap_seconds": umap_seconds,
            "ratio": statistics.median(ratios),
            "ratio_std": spread,
        }
    return found


def _load(data_set: str, sizes: Sizes) -> tuple[Floats, Labels]:
    if data_set == SEGMENTATION_SET:
        data = load_set(data_set)
        X, y = data.X, data.y
    else:
        n_rows = sizes.large_rows if data_set == generated_name(sizes.large_rows, sizes) else sizes.timed_rows
        X, y = make_classification(
            n_rows, sizes.timed_features, n_informative=sizes.timed_features // 2, n_classes=5,
            n_clusters_per_class=2, random_state=0,
        )  # fmt: skip
    return StandardScaler().fit_transform(X), y


TITLES = {
    ALIGNED: "Licorice, cylinders along the axes",
    ANY: "Licorice, cylinders in any direction",
    SEGMENTATION: "Image segmentation",
}
COLUMNS = {
    "accuracy": "leave-one-out",
    "held_out_accuracy": "held-out",
    "trustworthiness": "trust.",
    "continuity": "contin.",
    "neighborhood_preservation": "preserved",
    "around": "around",
    "least_around": "worst",
    "pair_error": "pair error",
    "seconds": "s",
}
WITH_STD = ("accuracy", "held_out_accuracy", "pair_error")
NOTES = (
    "leave-one-out: training rows whose label is that of most of their 5 nearest neighbors in the "
    "embedding; held-out: the same for rows that were transformed afterwards. trust., contin.: whether "
    "neighbors in the embedding are neighbors in the data, and vice versa. preserved: neighbors under "
    "LANN's metrics that are neighbors in the embedding. around, worst: whether held-out outside rows are "
    "farther from the center of the inside rows of a cylinder than held-out inside rows (.5 by chance), "
    "mean over the cylinders and the worst. pair error: held-out "
    "foliage and windows that are confused. s: fit and transform.",
)


class Embeddings(Benchmark):
    parts = PARTS
    slow_parts = (COST,)
    main_score = "held_out_accuracy"
    quick = f"1 seed, 1000 rows, and no {COST}; about two minutes."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        text = "Generate and split data with the seeds 0 … N − 1. Default: 5, with --quick 1."
        parser.add_argument("--seeds", type=positive, help=text)

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.sizes = QUICK if options.quick else FULL
        if options.seeds is not None:
            self.sizes = replace(self.sizes, n_seeds=options.seeds)

    def jobs(self) -> Iterator[Job]:
        key = repr(asdict(replace(self.sizes, n_seeds=1))), self.options.n_jobs
        for part in self.chosen:
            if part == COST:
                for name in timed_sets(self.sizes):
                    yield Job(COST, OURS, name, 0, partial(measure_costs, name, self.sizes), key)
                continue
            missing = load_sets([SEGMENTATION_SET])[1] if part == SEGMENTATION else {}
            self.skipped.update(missing)
            for seed in range(0 if missing else self.sizes.n_seeds):
                yield Job(part, COMPARISON, part, seed, partial(self._compare, part, seed), key)

    def _compare(self, part: str, seed: int) -> Found:
        n_jobs = self.options.n_jobs
        if part == SEGMENTATION:
            return measure_task(_segmentation(seed, self.sizes, n_jobs), n_jobs)
        return measure_task(_licorice(seed, self.sizes, n_jobs, aligned=part == ALIGNED), n_jobs)

    def warm_up(self, jobs: list[Job]) -> None:
        if jobs:
            NeighborEmbedding(max_iter=11, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))

    def report(self, results: Results) -> Report:
        tables = [part_table(results, part) for part in TITLES if results.methods(part)]
        rows = [
            (
                f"{name}, {method}",
                number(cost["seconds"]),
                number(cost["umap_seconds"]),
                f"{cost['ratio']:.3f} ± {cost['ratio_std']:.3f}",
            )
            for name in results.data_sets(COST)
            for method in results.methods(COST)
            if (cost := results.first(COST, method, name))
        ]
        if rows:
            note = f"Medians over the turns, with one thread, a seed and {N_NEIGHBORS} neighbors for both."
            tables.append(Table("Cost", ("cost", "LANN s", "UMAP s", "ratio"), rows, [note]))
        introduction = (
            f"Means over {self.sizes.n_seeds} seeds of the data and of the split: 70 % of each class are "
            "embedded, the rest is held out. All methods have data scaled by the embedded rows."
        )
        return Report(introduction, tables, self._checks(results))

    def _checks(self, results: Results) -> list[Check]:
        def ahead(part: str, others: tuple[str, ...], score: str = "held_out_accuracy") -> float:
            ours = results.mean(part, OURS, part, score)
            return lowest([ours - results.mean(part, other, part, score) for other in others])

        checks = []
        for part in (ALIGNED, ANY):
            for score, least in (("accuracy", 0.97), ("held_out_accuracy", 0.95), ("least_around", 0.9)):
                text = f"{part}: LANN's {score.replace('_', ' ')} at least {least:g}"
                checks.append(check(text, results.mean(part, OURS, part, score), least=least))
            text = f"{part}: LANN ahead of UMAP, GMLVQ and LMNN by at least .05 on held-out rows"
            checks.append(check(text, ahead(part, ("UMAP", "GMLVQ", "LMNN")), least=0.05))
        others = tuple(method for method in METHODS if method != OURS)
        text = f"{SEGMENTATION}: LANN ahead of every other method on held-out rows"
        checks.append(check(text, ahead(SEGMENTATION, others), least=1e-8))
        text = f"{SEGMENTATION}: LANN confuses foliage and windows less often than UMAP"
        checks.append(check(text, ahead(SEGMENTATION, ("UMAP",), "pair_error"), most=-1e-8))
        seconds = results.values(SEGMENTATION, COMPARISON, SEGMENTATION, "seconds")
        checks.append(
            check("segmentation: the comparison takes less than 120 s", max(seconds, default=NAN), most=120)
        )
        for method in (PREFIT, WITH_FIT):
            ratios = [results.mean(COST, method, name, "ratio") for name in timed_sets(self.sizes)]
            worst = -lowest([-ratio for ratio in ratios])
            checks.append(check(f"cost, {method}: at most 1.3 times as long as UMAP", worst, most=1.3))
        return checks


def part_table(results: Results, part: str) -> Table:
    """Make the table of a part: methods by scores."""
    methods = [method for method in (*METHODS, *VARIANTS) if method in results.methods(part)]
    scores = [s for s in COLUMNS if any(results.values(part, method, part, s) for method in methods)]
    rows = []
    for method in methods:
        cells = []
        for score in scores:
            value, spread = results.mean(part, method, part, score), results.std(part, method, part, score)
            is_seconds = score == "seconds"
            cells.append(
                number(value) if is_seconds else share(value, 3, spread if score in WITH_STD else NAN)
            )
        rows.append((method, *cells))
    return Table(TITLES[part], ("", *(COLUMNS[score] for score in scores)), rows, NOTES)


BENCHMARK = Embeddings

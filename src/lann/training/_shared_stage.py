"""The first stage: what all points share, feature curves, a map and class weights, learned in batches."""

from __future__ import annotations

import math

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.training._candidates import candidates_among
from lann.training._level_selection import clearly_fewer, draw_judges, errors
from lann.training._run import Run
from lann.training._sampling import QueryStream, stratified_sample
from lann.training._settings import Settings
from lann.training._shared_parameters import SharedStage
from lann.vote import zero_distance_guard

BATCH = 128
BATCHES_PER_EPOCH = 50
RATE = 0.05
# Curves and class weights need no more points than this to be learned from.
POOL = 20_000
# Up to here the search for candidates costs little, and all points are searched.
SMALL = 1_000
# Candidates serve for so many epochs before they are searched again.
EPOCHS_PER_SEARCH = 2
# A square map joins after this part of the epochs: the features should be on their curves by then.
MAP_FROM = 1 / 3
# After this part of the epochs the levels are judged.
JUDGED_AT = 2 / 3


def learn_shared(levels: Levels, settings: Settings, run: Run) -> Levels:
    """Learn curves, map and class weights; `levels` is where they start.

    With `settings.drop_levels` and many points, some are not asked before they have judged, late in training,
    which levels help. Those that will judge the points' own level are not asked at all.
    """
    n_epochs, rng, monitor = run.n_epochs, run.rng, run.monitor
    pool = stratified_sample(levels.labels, POOL, rng)
    stage = SharedStage(
        levels.replace(X=levels.X[pool], labels=levels.labels[pool], point_log_weights=np.empty((0, 0))),
        settings,
    )
    watched = _in_pool(pool, run.held_out)
    asked = np.setdiff1d(np.arange(len(pool)), np.union1d(watched, _in_pool(pool, run.judges)))
    judged_from = math.ceil(JUDGED_AT * n_epochs / EPOCHS_PER_SEARCH) * EPOCHS_PER_SEARCH
    judges = draw_judges(asked, settings, rng) if judged_from < n_epochs else asked[:0]
    stream = QueryStream(np.setdiff1d(asked, judges), rng)
    batch = min(BATCH, len(asked) - len(judges))
    per_epoch = BATCHES_PER_EPOCH * batch
    rate = settings.learning_rate or RATE
    n_axes = stage.by_class.shape[1]
    n_steps = n_epochs * BATCHES_PER_EPOCH
    map_from = 0 if levels.components is not None else math.floor(MAP_FROM * n_epochs)
    found: tuple[Indices, Indices, float, float]

    def search(n_ahead: int) -> tuple[Indices, Indices, float, float]:
        rows = stream.take(n_ahead * per_epoch)
        reference, survival = sample_reference(len(pool), settings, rng)
        return rows, *candidates_of(stage, rows, reference), survival

    def learn(epoch: int) -> float:
        nonlocal found, stage, stream
        if settings.linear_map and epoch == map_from:
            stage.unlock_map()
        if epoch == judged_from and len(judges) > 0:
            stage, without = pruned(stage, judges)
            monitor.left_out.extend(without)
            if without:
                monitor.forget_best()
            stream = QueryStream(asked, rng)
        if epoch % EPOCHS_PER_SEARCH == 0:
            found = search(min(EPOCHS_PER_SEARCH, n_epochs - epoch))
        rows, candidates, epsilon, survival = found
        total = 0.0
        for number in range(BATCHES_PER_EPOCH):
            first = epoch % EPOCHS_PER_SEARCH * per_epoch + number * batch
            part = slice(first, first + batch)
            alive = rng.random(candidates[part].shape) < survival
            scales = np.where(rng.random(n_axes) < settings.feature_dropout, 0.0, 1.0)
            loss, gradient = stage.loss(rows[part], candidates[part], alive, scales, epsilon)
            stage.step(gradient, rate * (1.0 - (epoch * BATCHES_PER_EPOCH + number) / n_steps))
            total += loss
        return total / BATCHES_PER_EPOCH

    def snapshot() -> Levels:
        mapped = None if stage.map is None else stage.map.copy()
        return levels.replace(
            curves=stage.curves, components=mapped, class_log_weights=stage.class_log_weights
        )

    def watched_loss() -> float:
        return loss_of(stage, watched)

    watch = watched_loss if len(watched) > 0 else None
    return monitor.run("what all points share", n_epochs, learn, snapshot, watch)


def _in_pool(pool: Indices, rows: Indices | None) -> Indices:
    """The places in the pool of some rows."""
    return np.empty(0, np.int64) if rows is None else np.flatnonzero(np.isin(pool, rows))


def pruned(stage: SharedStage, judges: Indices) -> tuple[SharedStage, list[str]]:
    """The stage without the levels without which the judges make clearly fewer errors, and their names."""

    def errors_with(some: SharedStage) -> Floats:
        metric, settings = some.metric(), stage.settings
        candidates, _ = candidates_among(metric, judges, settings.n_candidates, n_jobs=settings.n_jobs)
        return errors(metric, stage.labels, len(stage.votes), judges, candidates, settings)

    left_out: list[str] = []
    usual = errors_with(stage)
    for name in ("map", "class", "curves"):
        without = stage.without(name)
        if without is None:
            continue
        found = errors_with(without)
        if clearly_fewer(found, usual):
            stage, usual = without, found
            left_out.append(name)
    return stage, left_out


def sample_reference(n_points: int, settings: Settings, rng: np.random.Generator) -> tuple[Indices, float]:
    """The points that may be candidates for now, and how likely each then survives a batch's dropout.

    Of many points, part of the dropout is done here, once for all batches: to search among a third of the
    points for a third of the candidates costs a fraction.
    """
    survival = 1.0 - settings.candidate_dropout
    fraction = min(max(SMALL / n_points, survival), 1.0)
    size = max(round(fraction * n_points), 2)
    reference = np.sort(rng.choice(n_points, size, replace=False)) if size < n_points else np.arange(n_points)
    return reference, survival / fraction


def candidates_of(stage: SharedStage, rows: Indices, reference: Indices) -> tuple[Indices, float]:
    """The candidates of some training points among the reference: (n_rows, C), and ε."""
    settings = stage.settings
    distinct, where = np.unique(rows, return_inverse=True)
    wanted = math.ceil(settings.n_candidates * len(reference) / len(stage.X))
    candidates, distances = candidates_among(
        stage.metric(), distinct, wanted, reference=reference, n_jobs=settings.n_jobs
    )
    return candidates[where], zero_distance_guard(distances[:, :5])


def loss_of(stage: SharedStage, rows: Indices) -> float:
    """The loss of queries that are not trained on, with nothing dropped."""
    candidates, epsilon = candidates_of(stage, rows, np.arange(len(stage.X)))
    everything = np.ones(candidates.shape, np.bool_)
    return stage.loss(rows, candidates, everything, np.ones(stage.by_class.shape[1]), epsilon)[0]

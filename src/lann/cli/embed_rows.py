"""What `lann embed` is about: a trained model, and rows that it has not seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Indices
from lann.cli.account import percent
from lann.cli.columns import make_pipeline
from lann.cli.embedded import NewRows
from lann.cli.fit import fit_task, make_task
from lann.cli.labels import labels_of
from lann.cli.options import Metric
from lann.cli.tables import read_table
from lann.cli.trained import Trained, id_column, unseen_notes

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.fit import Task


ASK_MODEL = "Give a table of other rows, with their labels, to place them."
ASK_TABLE = "Place some with --held-out 0.3, or others that have labels with --test."


@dataclass(frozen=True)
class Settings:
    """What the command was told about the data and the model."""

    target: str | None
    id: str | None
    drop: list[str]
    metric: Metric | None
    balanced: bool
    held_out: float | None
    test: Path | None
    jobs: int | None
    seed: int


@dataclass(frozen=True)
class Source:
    """A trained model, and the unseen rows to place among those of its training.

    `advice` is how to place some, for where there are none whose labels are known.
    """

    trained: Trained
    new: NewRows | None
    title: str
    advice: str
    notes: list[str] = field(default_factory=list)


def rows_to_embed(
    data: Path | None, model: Path | None, settings: Settings, *, told: Callable[[str], Any]
) -> Source:
    """Read what was given, and train unless that is done. `told` hears of the step that begins."""
    if model is not None:
        return _of_model(data, model, settings, told)
    if data is None:
        raise ValueError("Give a table to learn from with its --target, or a trained model with --model.")
    if settings.target is None:
        raise ValueError(f"Say with --target which column of {data.name} holds the classes.")
    return _of_table(data, settings.target, settings, told)


def _of_model(data: Path | None, model: Path, settings: Settings, told: Callable[[str], Any]) -> Source:
    unused = {
        "--drop": settings.drop,
        "--metric": settings.metric,
        "--balanced": settings.balanced,
        "--held-out": settings.held_out is not None,
        "--test": settings.test,
    }
    if wrong := [option for option, given in unused.items() if given]:
        raise ValueError(
            f"{wrong[0]} is for a model that is yet to be trained; with --model, rows to place are the table."
        )
    trained = Trained.load(model)
    told("Reading")
    notes = list(trained.notes)
    if data is None:
        if settings.id is not None or settings.target is not None:
            option = "--id" if settings.id is not None else "--target"
            raise ValueError(f"{option} names a column of the rows to place, and no table is given.")
        return Source(trained, None, model.name, ASK_MODEL, notes)
    frame = read_table(data)
    target = settings.target
    if target is not None and target not in frame:
        raise ValueError(f"{data.name} has no column {target!r} for --target.")
    target = target if target is not None else getattr(trained.model, "target_", None)
    new = _new_rows(
        trained, frame, np.arange(len(frame)), data.name, target=target, id=settings.id, notes=notes
    )
    new = _known_again(trained, new, notes)
    return Source(trained, new, f"{data.name} among the rows of {model.name}", ASK_MODEL, notes)


def _of_table(data: Path, target: str, settings: Settings, told: Callable[[str], Any]) -> Source:
    from lann.classifier import LANNClassifier

    if settings.held_out is not None and settings.test is not None:
        raise ValueError("Give either --test or --held-out, not both.")
    if settings.held_out is not None and not 0 < settings.held_out < 1:
        raise ValueError(f"--held-out must be between 0 and 1; got {settings.held_out:g}.")
    frame = read_table(data)
    tested = None if settings.test is None else read_table(settings.test)
    named: dict[str, Any] = {"target": target, "id": settings.id, "drop": settings.drop}
    task = make_task(frame, data.name, **named)
    notes = list(task.notes)
    held: Indices | None = None
    if settings.held_out is not None:
        training, held = _split(task, settings.held_out, settings.seed, notes)
        named["drop"] = [*settings.drop, *task.columns.ignored]  # said above, of the whole table
        task = make_task(frame.iloc[training].reset_index(drop=True), data.name, **named)
        notes += task.notes
        task.row_numbers = training[task.row_numbers]
    classifier = LANNClassifier(
        metric=(settings.metric or Metric.diagonal).value,
        class_weight="balanced" if settings.balanced else None,
        n_jobs=settings.jobs,
        random_state=settings.seed,
    )
    told("Learning the metrics")
    if classifier.n_neighbors > len(task.labels):
        raise ValueError(
            f"There are {len(task.labels)} rows of {data.name} to learn from; at least "
            f"{classifier.n_neighbors} are needed."
        )
    trained = Trained(fit_task(make_pipeline(task.columns, classifier), task))
    if held is not None:
        new = _new_rows(trained, frame, held, data.name, target=target, id=settings.id, notes=notes)
        new = _known_again(trained, new, notes, what="held out")
        return Source(trained, new, data.name, ASK_TABLE, notes)
    if tested is None or settings.test is None:
        return Source(trained, None, data.name, ASK_TABLE, notes)
    source = settings.test.name
    new = _new_rows(
        trained, tested, np.arange(len(tested)), source, target=target, id=settings.id, notes=notes
    )
    new = _known_again(trained, new, notes)
    return Source(trained, new, f"{data.name}, with the rows of {source}", ASK_TABLE, notes)


def _split(task: Task, share: float, seed: int, notes: list[str]) -> tuple[Indices, Indices]:
    """Rows of the file to learn from and to hold out, ascending, of every class the same part.

    Rows that are the same in every column stay together, as long as that leaves classes to part.
    """
    from sklearn.model_selection import train_test_split

    if task.class_sizes.min() < 2:
        name = task.classes[task.class_sizes.argmin()]
        raise ValueError(f"Class {str(name)!r} has one row only, which cannot be held out; give --test.")
    n_held, n_classes = round(share * len(task.labels)), len(task.classes)
    if min(n_held, len(task.labels) - n_held) < n_classes:
        raise ValueError(
            f"--held-out {share:g} parts {len(task.labels)} rows so that not every one of the {n_classes} "
            "classes is on both sides; give another share."
        )
    first = _first_of_copies(task.rows)
    drawn = np.unique(first)  # one of each
    _, sizes = np.unique(task.labels[drawn], return_counts=True)
    n_drawn = round(share * len(drawn))
    if len(sizes) < n_classes or sizes.min() < 2 or min(n_drawn, len(drawn) - n_drawn) < n_classes:
        drawn, first, n_drawn = np.arange(len(first)), np.arange(len(first)), n_held
    _, chosen = train_test_split(drawn, test_size=n_drawn, stratify=task.labels[drawn], random_state=seed)
    held = np.isin(first, chosen)
    if n_copies := len(first) - len(drawn):
        notes.append(
            f"{_rows(n_copies)} ({percent(n_copies / len(first))}) have the values of others before them; "
            f"copies are held out together or not at all: {held.sum()} of {len(first)} rows are held out. "
            "Among training rows, copies vote on each other, which flatters those."
        )
    return task.row_numbers[~held], task.row_numbers[held]


def _first_of_copies(rows: pd.DataFrame) -> Indices:
    """For each row the first that has the same values: (n_rows,)."""
    first = np.arange(len(rows))
    if len(again := np.flatnonzero(rows.duplicated(keep=False))):
        groups = rows.iloc[again].groupby(list(rows.columns), dropna=False, sort=False).ngroup()
        _, begins, which = np.unique(groups, return_index=True, return_inverse=True)
        first[again] = again[begins[which]]
    return first


def _new_rows(
    trained: Trained,
    frame: pd.DataFrame,
    numbers: Indices,
    source: str,
    *,
    target: str | None,
    id: str | None,
    notes: list[str],
) -> NewRows:
    frame = frame.iloc[numbers].reset_index(drop=True)
    rows = trained.prepare(frame.drop(columns=[target], errors="ignore") if target else frame, source)
    if not isinstance(rows, np.ndarray):
        notes += unseen_notes(trained.unseen_values(rows))
    ids = None if id is None else id_column(frame, id, source)
    labels: list[str | None] | None = None
    if target is not None and target in frame:
        labels = [None] * len(frame)
        there = np.flatnonzero(frame[target].notna())
        for place, label in zip(there, labels_of(frame[target].iloc[there]), strict=True):
            labels[place] = str(label)
    return NewRows(rows, numbers, ids, labels, source, np.full(len(numbers), -1))


def _known_again(trained: Trained, new: NewRows, notes: list[str], *, what: str | None = None) -> NewRows:
    """Find rows that are the same as rows of the training, and say so; `what` is what they are.

    A few may be so by chance, and are unseen like any others. Where they are most, they are those rows.
    """
    queries = np.ascontiguousarray(trained.classifier._check_queries(trained.features(new.rows)))
    known = {row.tobytes(): place for place, row in enumerate(trained.classifier._model.levels.X)}
    same = np.array([known.get(row.tobytes(), -1) for row in queries])
    n_same = int((same >= 0).sum())
    if n_same == 0:
        return new
    what = what or f"of {new.source}"
    said = f"{_rows(n_same)} {what} ({percent(n_same / len(same))}) also stand in the training data"
    if n_same <= len(same) / 2:
        notes.append(f"{said}; they count as unseen, and flatter.")
        return new
    notes.append(f"{said}; they do not count as unseen.")
    return dataclasses.replace(new, same=same)


def _rows(count: int) -> str:
    return "1 row" if count == 1 else f"{count} rows"

"""What kind of model it is, in a few facts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.report.markup import Html, element, label_chip

if TYPE_CHECKING:
    from lann.cli.trained import Trained

MOST_CLASSES = 20

LEVELS = {
    "curves": "curves (where along a column differences matter)",
    "map": "a map (which columns are seen together)",
    "class": "class weights (which columns matter to each class)",
    "point": "row weights (which columns matter to each training row)",
}
METRICS = {
    "diagonal": "a weight per column",
    "low_rank": "a small matrix",
    "full": "a whole matrix",
}


def model_summary(trained: Trained) -> Html:
    facts = [part for term, text in _facts(trained) for part in (element("dt", term), element("dd", text))]
    return element(
        "section",
        element("h2", "The model", id="model"),
        element("dl", *facts, class_="facts"),
        aria_labelledby="model",
    )


def _facts(trained: Trained) -> list[tuple[str, str | Html]]:
    classifier = trained.classifier
    labels = classifier._model.levels.labels
    target = getattr(trained.model, "target_", None)
    n_columns, n_features = len(set(trained.origins())), classifier.n_features_in_
    columns = f"{n_columns}" if n_columns == n_features else f"{n_columns}, as {n_features} features"
    used = [text for level, text in LEVELS.items() if level in classifier.levels_]
    facts: list[tuple[str, str | Html]] = [] if target is None else [("Predicts", target)]
    facts += [
        ("Classes", _classes(classifier.classes_, np.bincount(labels, minlength=len(classifier.classes_)))),
        ("Training rows", f"{len(labels):,}"),
        ("Columns", columns),
        ("Learned", "; ".join(used) if used else "nothing: plain nearest neighbors"),
        ("Each row measures with", METRICS[classifier.metric]),
        ("Neighbors that vote", str(classifier.n_neighbors_)),
    ]
    if settings := _unusual_settings(trained):
        facts.append(("Other settings", settings))
    return facts


def _classes(classes: np.ndarray, sizes: np.ndarray) -> Html:
    """Every class with its number of training rows, the frequent ones where there are many."""
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    items = [element("li", label_chip(classes[place], place), f" {sizes[place]:,} rows") for place in shown]
    if len(classes) > len(shown):
        items.append(element("li", f"and {len(classes) - len(shown)} more"))
    return element("ul", *items, class_="chips")


def _unusual_settings(trained: Trained) -> str:
    """Parameters that are not the defaults and are not said elsewhere."""
    classifier = trained.classifier
    usual = type(classifier)().get_params()
    said = {"n_neighbors", "metric", "levels", "n_jobs", "random_state", "verbose"}
    given = classifier.get_params()
    return ", ".join(f"{k}={v!r}" for k, v in given.items() if k not in said and not _same(v, usual[k]))


def _same(value: object, other: object) -> bool:
    return type(value) is type(other) and value == other

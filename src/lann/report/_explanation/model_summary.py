"""The facts about a model."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._format import counted
from lann._markup import Html, class_label, definitions, element
from lann._types import Indices
from lann._validation import changed_parameters
from lann.report._explanation.columns import kinds_text, schema_of
from lann.tables import TableModel

MOST_CLASSES = 20
LEVELS = {
    "curves": "feature curves (where along a column differences matter)",
    "map": "a linear map (which columns are measured together)",
    "class": "class metrics (which columns matter to each class)",
    "point": "point metrics (which columns matter to each training row)",
}
POSITIONS = "positions of categories (which ones are alike)"
METRICS = {
    "diagonal": "a weight per column",
    "low_rank": "a small matrix",
    "full": "a full matrix",
}
# Parameters that other facts mention, or that do not change the result.
NOT_LISTED = {"n_neighbors", "metric", "levels", "random_state"}


def model_summary(model: TableModel) -> Html:
    """Return the section about the model."""
    return element(
        "section",
        element("h2", "The model", id="model"),
        definitions(_facts(model), class_="facts"),
        aria_labelledby="model",
    )


def _facts(model: TableModel) -> list[tuple[str, str | Html]]:
    classifier: Any = model.classifier
    labels, schema = classifier.model_.labels, schema_of(model)
    columns = str(len(model.columns))
    if schema is not None and not schema.is_numeric:
        columns = f"{len(schema.features)}: {kinds_text(schema)}"
    sizes = np.bincount(labels, minlength=len(classifier.classes_))
    facts: list[tuple[str, str | Html]] = [] if model.target is None else [("Predicts", model.target)]
    facts += [
        ("Classes", _classes(classifier.classes_, sizes)),
        ("Training rows", f"{len(labels):,}"),
        ("Columns", columns),
    ]
    if hasattr(classifier, "levels_"):
        learned = [text for level, text in LEVELS.items() if level in classifier.levels_]
        if any(positions.is_learned for positions in classifier.encoding_.positions):
            learned.insert(0, POSITIONS)
        facts += [
            ("Learned", "; ".join(learned) or "nothing: plain nearest neighbors"),
            ("Metric of a training row", METRICS[classifier.metric]),
        ]
    else:
        facts.append(("Method", type(classifier).__name__))
    vote = getattr(classifier, "vote_", None)
    facts.append(("Neighbors that vote", str(classifier.model_.n_neighbors) if vote is None else str(vote)))
    if parameters := _changed_parameters(classifier):
        facts.append(("Other parameters", parameters))
    return facts


def _classes(classes: NDArray[Any], sizes: Indices) -> Html:
    """Return the classes with their numbers of training rows, the largest ones if there are many."""
    shown = np.sort(np.argsort(-sizes, kind="stable")[:MOST_CLASSES])
    items = [
        element("li", class_label(classes[index], index), f" {counted(sizes[index], 'row')}")
        for index in shown
    ]
    if len(classes) > len(shown):
        items.append(element("li", f"and {len(classes) - len(shown)} more"))
    return element("ul", *items, class_="class-list")


def _changed_parameters(classifier: Any) -> str:
    """Return the parameters that are not the defaults."""
    changed = changed_parameters(classifier).items()
    return ", ".join(f"{name}={value!r}" for name, value in changed if name not in NOT_LISTED)

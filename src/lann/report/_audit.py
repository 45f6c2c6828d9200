"""Where a page comes from: date, versions, model and files, for somebody who has to check it later."""

from __future__ import annotations

import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
import sklearn

from lann._format import counted
from lann._markup import Html, definitions, element
from lann.tables import TableModel


def audit_facts(model: TableModel, *, now: datetime | None = None) -> list[tuple[str, str]]:
    """Return the origin of a page as names and texts.

    Parameters
    ----------
    model : TableModel
    now : datetime or None, default=None
        When the page is made; None is now.
    """
    import lann

    made = (datetime.now(UTC) if now is None else now).strftime("%Y-%m-%d %H:%M %Z").strip()
    versions = f"lann {lann.__version__}, Python {platform.python_version()}, NumPy {np.__version__}"
    classifier: Any = model.classifier
    seed = classifier.get_params(deep=False).get("random_state")
    n_rows, n_columns = len(classifier.model_.X), len(model.columns)
    rows = f"{counted(n_rows, 'training row')}, {counted(n_columns, 'column')}"
    facts = [
        ("Made", made),
        ("By", f"{versions}, scikit-learn {sklearn.__version__}"),
        (
            "Model",
            f"{type(classifier).__name__} of {rows}" + ("" if seed is None else f", random_state={seed}"),
        ),
    ]
    if model.record is not None and model.record.data_sha256 is not None:
        facts.append(("Trained on", f"a file with SHA-256 {model.record.data_sha256}"))
    return facts


def audit_header(facts: Sequence[tuple[str, str]]) -> Html:
    """Return the origin of a page as an element for its header."""
    return element("div", definitions(list(facts), class_="facts"), class_="audit")

"""Where a page comes from: date, versions, model and files, for somebody who has to check it later."""

from __future__ import annotations

from collections.abc import Sequence

from lann._markup import Html, definitions, element
from lann._support.format import counted
from lann._support.validation import changed_parameters
from lann.report._evaluation.evaluation import SourceFile, now, seed_of, versions
from lann.report._evaluation.page import date_text
from lann.tables import TableModel


def audit_header(model: TableModel, files: Sequence[SourceFile]) -> Html:
    """Return what is known about the origin of a page, for its header.

    Parameters
    ----------
    model : TableModel
    files : sequence of SourceFile
        The files that the page is made of.
    """
    classifier, trained_on = model.classifier, None if model.record is None else model.record.data_sha256
    seed = seed_of(classifier)
    text = (
        f"{type(classifier).__name__}, fitted to {counted(len(model.row_numbers), 'row')} with "
        f"{counted(len(model.columns), 'column')}"
    )
    made, known = date_text(now()), versions()
    parameters = ", ".join(f"{name}={value!r}" for name, value in changed_parameters(classifier).items())
    facts: list[tuple[str, str | Html]] = [
        ("Made", made),
        ("Versions", ", ".join(f"{name} {version}" for name, version in known.items())),
        ("Model", text if seed is None else f"{text}, random_state {seed}"),
        ("Parameters", parameters or "defaults"),
    ]
    for file in files:
        note = ", the training file" if file.sha256 == trained_on else ""
        facts.append(("File", Html(element("span", f"{file.name}{note}: SHA-256 ") + _digest(file.sha256))))
    if trained_on is not None and trained_on not in {file.sha256 for file in files}:
        facts.append(("Training file", Html(element("span", "SHA-256 ") + _digest(trained_on))))
    names = "".join(f", {file.name}" for file in files)
    line = f"Made {made} by lann {known['lann']}: {text}{names}"
    return element("details", element("summary", line), definitions(facts, class_="facts"), class_="audit")


def _digest(sha256: str) -> Html:
    return element("code", sha256, class_="digest")

"""The section about the origin of the figures."""

from __future__ import annotations

from lann._format import counted
from lann._markup import Html, definitions, element
from lann.report._evaluation.audit import Audit, SourceFile


def audit_section(audit: Audit) -> Html:
    """Return the section about files, versions and seeds."""
    facts: list[tuple[str, str | Html]] = [("Evaluated", date_text(audit.created))]
    if audit.data_file is not None:
        facts.append(("Test file", _file(audit.data_file)))
    facts.append(
        ("Test rows", f"{counted(audit.n_rows, 'row')}, {counted(audit.n_columns, 'column')} in use")
    )
    facts.append(("Model", model_text(audit)))
    if audit.model_file is not None:
        facts.append(("Model file", _file(audit.model_file)))
    if audit.trained_on is not None:
        same = " (the test file)" if audit.is_training_file else ""
        digest = Html(element("code", audit.trained_on, class_="digest") + same)
        facts.append(("Training file", digest))
    facts += [("Seeds", seeds_text(audit)), ("Versions", versions_text(audit))]
    return element(
        "section",
        element("h2", "About this evaluation", id="audit"),
        definitions(facts, class_="facts"),
        aria_labelledby="audit",
    )


def date_text(created: str) -> str:
    """Return a date and time in UTC as text.

    >>> date_text("2026-05-31T12:30:00+00:00")
    '2026-05-31 12:30:00 UTC'
    """
    return created.replace("T", " ").replace("+00:00", " UTC")


def model_text(audit: Audit) -> str:
    """Return the class of the model and its number of training rows."""
    if audit.n_train is None:
        return audit.model
    return f"{audit.model}, fitted to {counted(audit.n_train, 'row')}"


def seeds_text(audit: Audit) -> str:
    """Return the seeds of the model, of its cross-validation and of the evaluation."""
    model = "no integer" if audit.random_state is None else str(audit.random_state)
    seeds = [f"model {model}"]
    if audit.cross_validation:
        seeds.append(f"folds of the cross-validation {audit.cross_validation[0].random_state}")
    seeds.append(f"{audit.n_resamples:,} resamples of this evaluation {audit.evaluation_random_state}")
    return "; ".join(seeds)


def versions_text(audit: Audit) -> str:
    """Return the versions in a line."""
    return ", ".join(f"{name} {version}" for name, version in audit.versions.items())


def _file(file: SourceFile) -> Html:
    digest = element("code", file.sha256, class_="digest")
    return Html(element("span", file.name) + element("span", " SHA-256 ", class_="hint") + digest)

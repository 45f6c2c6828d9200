"""Counts by outcome, and what reproduces each failure, as text."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.fuzz.outcomes import FAULTS, OUTCOMES, RIGHT, Outcome

MOST_SHOWN = 25
LONGEST_DETAIL = 400


@dataclass
class PartReport:
    """
    What happened in the cases of a part.

    Parameters
    ----------
    part
        Its name.
    seed
        Of the cases.
    """

    part: str
    seed: int
    counts: Counter[str] = field(default_factory=Counter)
    faults: list[tuple[int, Outcome]] = field(default_factory=list)
    details: Counter[str] = field(default_factory=Counter)

    def add(self, number: int, outcome: Outcome) -> None:
        """Count an outcome; one that must not happen is kept."""
        self.counts[outcome.kind] += 1
        if outcome.kind == RIGHT and outcome.detail:
            self.details[outcome.detail] += 1
        if outcome.kind in FAULTS:
            self.faults.append((number, outcome))

    def one_line(self) -> str:
        """Return the counts in one line, for the progress."""
        counts = ", ".join(f"{self.counts[kind]} {kind}" for kind in OUTCOMES if self.counts[kind])
        return f"{self.part}: {self.counts.total()} cases: {counts}"


def table(reports: list[PartReport]) -> str:
    """Return a table with a row for each part: the number of cases, and the counts by outcome."""
    rows = [["part", "cases", *OUTCOMES]]
    rows += [[r.part, str(r.counts.total()), *(str(r.counts[k]) for k in OUTCOMES)] for r in reports]
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))])
        for row in rows
    )


def details(reports: list[PartReport]) -> str:
    """Return a line for each part whose right outcomes say more: how many say what."""
    return "\n".join(
        f"right in {report.part}: " + ", ".join(f"{n} {text}" for text, n in report.details.most_common())
        for report in reports
        if report.details
    )


def failures(reports: list[PartReport]) -> str:
    """Return the first failures, each with the command that runs it again; equal ones are counted."""
    lines = []
    for report in reports:
        alike: dict[tuple[str, str], list[tuple[int, Outcome]]] = {}
        for number, outcome in sorted(report.faults, key=lambda fault: fault[0]):
            alike.setdefault((outcome.kind, outcome.detail[:60]), []).append((number, outcome))
        for (kind, _), found in list(alike.items())[:MOST_SHOWN]:
            number, outcome = found[0]
            more = f" ({len(found)} alike)" if len(found) > 1 else ""
            lines.append(f"{kind}{more}: {outcome.name}: {outcome.detail[:LONGEST_DETAIL]}")
            lines.append(f"    python -m tests.fuzz {report.part} --seed {report.seed} --case {number}")
        if len(alike) > MOST_SHOWN:
            lines.append(f"... and {len(alike) - MOST_SHOWN} others of {report.part}")
    return "\n".join(lines)

"""Scores of probabilities as table cells, and what could not be scored."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.common.scores import FLOOR
from benchmarks.engine import Check, PartResults, Values, check
from benchmarks.engine.tables import NONE, plural, share_and_std

FAILED = "fail"

COLUMNS = {
    "log_loss_floored": "log-loss",
    "log_loss": "as returned",
    "brier_floored": "Brier",
    "ece": "ECE",
}
"""The scores of a table of probabilities, and the names of their columns."""

NAMES = {
    "log_loss_floored": "log-loss with a floor",
    "log_loss": "log-loss as returned",
    "brier_floored": "Brier score with a floor",
    "brier": "Brier score as returned",
    "ece": "ECE",
}

NOTES = (
    f"Log-loss and Brier score: probabilities with the same floor for every method, (P + η/C) / (1 + η) with "
    f"η = {FLOOR:g} and C classes. As returned: the log-loss without it. Both are scikit-learn's; the Brier "
    "score is halved for any number of classes. ECE: expected calibration error as returned, 15 bins.",
    f"{FAILED}: scikit-learn's metric raised an error on what the method returned. {NONE}: the method has no "
    "probabilities, or was not measured.",
)
"""What these columns mean, for the notes of a table."""


@dataclass(frozen=True)
class ScoreFailure:
    """A score that could not be computed."""

    method: str
    data_set: str
    repeat: int
    score: str
    reason: str

    def as_dict(self) -> Values:
        return {
            "kind": "failed score",
            "method": self.method,
            "data_set": self.data_set,
            "repeat": self.repeat,
            "score": self.score,
            "reason": self.reason,
        }


def score_failures(found: PartResults, methods: Iterable[str], names: Sequence[str]) -> list[ScoreFailure]:
    """Return the scores of these methods that could not be computed, in every split of these data sets."""
    return [
        ScoreFailure(method, name, repeat, score, reason)
        for method in methods
        for name in names
        for repeat, values in found.cell(method, name).items()
        for score, reason in (values.get("errors") or {}).items()
    ]


def failure_notes(failures: Sequence[ScoreFailure]) -> list[str]:
    """Describe the failures: a sentence for every method and score, with the first error message."""
    return list(_failure_notes(failures))


def _failure_notes(failures: Sequence[ScoreFailure]) -> Iterator[str]:
    for method, score in dict.fromkeys((one.method, one.score) for one in failures):
        these = [one for one in failures if (one.method, one.score) == (method, score)]
        names = dict.fromkeys(one.data_set for one in these)
        yield (
            f"{method}: {NAMES.get(score, score)} failed in {plural(len(these), 'split')} of "
            f"{', '.join(names)}: {these[0].reason.rstrip('.')}."
        )


def check_scores(requirement: str, failures: Sequence[ScoreFailure], *, measured: bool) -> Check:
    """Check that no score failed; `measured` is whether there are any measurements."""
    if failures:
        n_sets = len({one.data_set for one in failures})
        return check(requirement, False, f"failed on {plural(n_sets, 'data set')}: {failures[0].reason}")
    return check(requirement, True if measured else None, "no score failed" if measured else "")


def score_cell(found: PartResults, method: str, names: Sequence[str], score: str) -> str:
    """
    Write the mean of a score over data sets and the standard deviation of that mean over the splits.

    For one data set they are the mean and the standard deviation over its splits.
    """
    if any(one.score == score for one in score_failures(found, [method], names)):
        return FAILED
    return share_and_std(found.over_sets(method, names, score), found.std_over_sets(method, names, score))


def probability_cells(found: PartResults, method: str, names: Sequence[str]) -> tuple[str, ...]:
    """Return the cells of `COLUMNS`: means over data sets and their standard deviations."""
    return tuple(score_cell(found, method, names, score) for score in COLUMNS)

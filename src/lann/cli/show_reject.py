"""What a reject option has decided, on the terminal and in documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._format import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from lann.reject import RejectOption

DECISIONS = ("accepted", "ambiguous", "far")


def show_decisions(
    reject: RejectOption,
    decisions: NDArray[Any],
    labels: NDArray[Any] | None,
    predicted: NDArray[Any],
    console: Console,
) -> None:
    """Print how many rows are accepted, ambiguous and far, and what errors are to be expected."""
    counts = _counts(decisions)
    n_accepted, n_rows = counts["accepted"], len(decisions)
    console.print(
        f"Accepted {n_accepted:,} of {counted(n_rows, 'row')} ({percent(n_accepted / max(n_rows, 1))}); "
        f"{counts['ambiguous']:,} ambiguous, {counts['far']:,} far",
        soft_wrap=True,
    )
    console.print(expectation(reject), soft_wrap=True)
    error, n_labels = _error_of_accepted(decisions, labels, predicted)
    if error is not None:
        console.print(f"Error of the {counted(n_labels, 'accepted row')} with a label: {percent(error, 1)}")


def expectation(reject: RejectOption) -> str:
    """Return what is to be expected of rows like the held-out ones, in a sentence."""
    held_out = reject.held_out_
    n_rows, before = len(held_out.y_true), float(np.mean(held_out.y_true != held_out.y_pred))
    if reject.risk_ != reject.risk_:
        return f"None of the {counted(n_rows, 'held-out row')} of the cross-validation is accepted."
    return (
        f"Expected error of accepted rows: {percent(reject.risk_, 1)}, in place of {percent(before, 1)} of "
        f"all rows ({percent(reject.coverage_)} of {counted(n_rows, 'held-out row')} of the cross-validation "
        "are accepted)"
    )


def reject_document(
    reject: RejectOption, decisions: NDArray[Any], labels: NDArray[Any] | None, predicted: NDArray[Any]
) -> dict[str, Any]:
    """Return the target, the thresholds, and what was decided, for a document."""
    held_out = reject.held_out_
    error, n_labels = _error_of_accepted(decisions, labels, predicted)
    return {
        "target": reject.target_.kind,
        "value": reject.target_.value,
        "certainty": reject.certainty,
        "threshold": float(reject.thresholds_[0]),
        "novelty_threshold": reject.novelty_threshold_,
        "n_accepted": _counts(decisions)["accepted"],
        "n_ambiguous": _counts(decisions)["ambiguous"],
        "n_far": _counts(decisions)["far"],
        "error_of_accepted": error,
        "n_accepted_labels": n_labels,
        "held_out": {
            "n_rows": len(held_out.y_true),
            "error": float(np.mean(held_out.y_true != held_out.y_pred)),
            "coverage": reject.coverage_,
            "error_of_accepted": reject.risk_,
        },
    }


def _counts(decisions: NDArray[Any]) -> dict[str, int]:
    return {decision: int(np.sum(decisions == decision)) for decision in DECISIONS}


def _error_of_accepted(
    decisions: NDArray[Any], labels: NDArray[Any] | None, predicted: NDArray[Any]
) -> tuple[float | None, int]:
    """Return the share of wrong predictions among the accepted rows with a label, and their number."""
    if labels is None:
        return None, 0
    is_counted = np.array([label is not None for label in labels]) & (decisions == "accepted")
    n_rows = int(is_counted.sum())
    return (float(np.mean(labels[is_counted] != predicted[is_counted])) if n_rows else None), n_rows

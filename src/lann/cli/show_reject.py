"""What a reject option has decided, on the terminal and in documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann._format import counted, percent

if TYPE_CHECKING:
    from rich.console import Console

    from lann.reject import RejectOption
    from lann.tables import PredictionCounts


def show_decisions(reject: RejectOption, counts: PredictionCounts, console: Console) -> None:
    """Print how many rows are accepted, ambiguous and far, and what errors are to be expected."""
    decisions, n_rows = counts.decisions, counts.n_rows
    console.print(
        f"Accepted {decisions['accepted']:,} of {counted(n_rows, 'row')} "
        f"({percent(decisions['accepted'] / max(n_rows, 1))}); "
        f"{decisions['ambiguous']:,} ambiguous, {decisions['far']:,} far",
        soft_wrap=True,
    )
    console.print(expectation(reject), soft_wrap=True)
    error = counts.error_of_accepted
    if error is not None:
        rows = counted(counts.n_accepted_labels, "accepted row")
        console.print(f"Error of the {rows} with a label: {percent(error, 1)}")


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


def reject_document(reject: RejectOption, counts: PredictionCounts) -> dict[str, Any]:
    """Return the target, the thresholds, and what was decided, for a document."""
    held_out = reject.held_out_
    return {
        "target": reject.target_.kind,
        "value": reject.target_.value,
        "certainty": reject.certainty,
        "threshold": float(reject.thresholds_[0]),
        "novelty_threshold": reject.novelty_threshold_,
        "n_accepted": counts.decisions["accepted"],
        "n_ambiguous": counts.decisions["ambiguous"],
        "n_far": counts.decisions["far"],
        "error_of_accepted": counts.error_of_accepted,
        "n_accepted_labels": counts.n_accepted_labels,
        "held_out": {
            "n_rows": len(held_out.y_true),
            "error": float(np.mean(held_out.y_true != held_out.y_pred)),
            "coverage": reject.coverage_,
            "error_of_accepted": reject.risk_,
        },
    }

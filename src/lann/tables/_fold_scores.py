"""The scores of a cross-validation as a model file has them."""

from __future__ import annotations

import pandas as pd

from lann.persist import CrossValidatedMethod

SCORES = ("accuracy", "balanced_accuracy", "auc", "log_loss")


def summarize_folds(scores: pd.DataFrame) -> list[CrossValidatedMethod]:
    """Return the means and standard deviations over the folds, as a model file has them."""
    return [_summarize_method(str(method), part) for method, part in scores.groupby("method", sort=False)]


def _summarize_method(method: str, scores: pd.DataFrame) -> CrossValidatedMethod:
    found: dict[str, float | None] = {}
    for score in SCORES:
        values = scores[score].dropna().to_numpy()
        found[score] = float(values.mean()) if len(values) else None
        found[f"{score}_std"] = float(values.std()) if len(values) else None
    return CrossValidatedMethod(
        method=method,
        n_folds=int(scores["fold"].nunique()),
        random_state=scores.attrs.get("random_state"),
        **found,
    )

"""Access to fitted estimators: the last step of a pipeline, training rows and votes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lann._types import Floats, Labels

if TYPE_CHECKING:
    from lann.explain.voters import Votes


def last_step(estimator: Any) -> Any:
    """Return the last step of a fitted pipeline, or the fitted estimator itself."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(estimator)
    return estimator[-1] if hasattr(estimator, "named_steps") else estimator


def _training_rows(estimator: Any) -> tuple[Floats, Labels]:
    """Return the training rows of a fitted classifier or embedding, and their class indices."""
    model = getattr(estimator, "_model", None)
    if model is None:
        raise ValueError(f"{type(estimator).__name__} does not keep its training rows; pass X.")
    if hasattr(model, "levels"):
        return model.levels.X, model.levels.labels
    return model.points, model.labels


def _votes(classifier: Any, X: Floats | None) -> Votes:
    """Return the votes on queries, or on all training rows if X is None, each without itself."""
    from lann.explain.voters import voters_of

    return voters_of(classifier).vote(X)

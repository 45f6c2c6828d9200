"""Differences between versions of scikit-learn, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        return method


class FitProgress:
    """Tells scikit-learn's callbacks, where there are any, about the epochs of a fit."""

    def __init__(self, estimator: Any, max_iter: int, X: Any, y: Any) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    def epoch(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Report one epoch; `fitted` gives the attributes of a model that stopped here. True: stop."""
        if self._context is None:
            return False
        task = self._context.subcontext(task_name="epoch")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )

    def end(self) -> None:
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """If a fit fails, the estimator is what it was before: an earlier model stays usable."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # Only what a fit sets: what scikit-learn keeps for its callbacks is its own to take down.
        for name in [name for name in vars(estimator) if name.endswith("_")]:
            delattr(estimator, name)
        vars(estimator).update(before)
        raise

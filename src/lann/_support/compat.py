"""Differences between versions of scikit-learn, in one place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # before scikit-learn 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """A mixin without effect, for versions of scikit-learn without callbacks."""

    def with_callbacks(method: Callable) -> Callable:
        return method


class FitProgress:
    """Calls scikit-learn's callbacks, if there are any, in every epoch of a fit."""

    def __init__(self, estimator: Any, max_iter: int, X: Any, y: Any) -> None:
        self._estimator, self._data = estimator, {"X": X, "y": y}
        self._context = None
        if hasattr(estimator, "_init_callback_context"):
            self._context = estimator._init_callback_context(max_subtasks=max_iter)
            self._context.call_on_fit_task_begin(estimator=estimator, **self._data)

    def epoch(self, fitted: Callable[[], dict[str, Any]]) -> bool:
        """Call the callbacks after an epoch; return whether one of them stops the fit.

        Parameters
        ----------
        fitted : callable
            Returns the fitted attributes as they would be after this epoch.
        """
        if self._context is None:
            return False
        task = self._context.subcontext(task_name="epoch")
        task.call_on_fit_task_begin(estimator=self._estimator, **self._data)
        return task.call_on_fit_task_end(
            estimator=self._estimator, reconstruction_attributes=fitted, **self._data
        )

    def end(self) -> None:
        """Call the callbacks after the fit."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._estimator, **self._data)


class _EpochReporter:
    """A callback of scikit-learn that passes on how many epochs of a fit are done, and of how many."""

    def __init__(self, report: Callable[[int, int], object]) -> None:
        self._report, self._n_done, self._n_epochs = report, 0, 0

    def setup(self, estimator: Any, context: Any) -> None:
        """Do nothing: the first task begins afterwards."""

    def teardown(self, estimator: Any, context: Any) -> None:
        """Do nothing."""

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        if context.task_name == "fit":
            self._n_done, self._n_epochs = 0, context.max_subtasks or 0

    def on_fit_task_end(self, estimator: Any, context: Any) -> None:
        if context.task_name == "epoch":
            self._n_done += 1
            self._report(self._n_done, self._n_epochs)


@contextmanager
def reported_epochs(estimator: Any, report: Callable[[int, int], object] | None) -> Iterator[None]:
    """Report the epochs of fits in the block; without effect before scikit-learn 1.9.

    Parameters
    ----------
    estimator : estimator
    report : callable or None
        Called after every epoch with the number of epochs that are done, and of all epochs, at most. None
        reports nothing.
    """
    if report is None or not hasattr(estimator, "set_callbacks"):
        yield
        return
    estimator.set_callbacks(_EpochReporter(report))
    try:
        yield
    finally:
        estimator.set_callbacks()


@contextmanager
def unchanged_on_failure(estimator: Any) -> Iterator[None]:
    """Restore the attributes of an estimator if a fit fails, so that a previous fit stays usable."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        # Restored first: another thread can predict at any time.
        vars(estimator).update(before)
        # Only fitted attributes: scikit-learn removes those of its callbacks itself.
        for name in [name for name in vars(estimator) if name.endswith("_") and name not in before]:
            delattr(estimator, name)
        raise

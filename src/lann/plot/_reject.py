"""RejectDisplay: how good the accepted predictions are, by the share of rows that is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann import reject
from lann._support.format import class_color, class_text, counted
from lann._support.types import Floats
from lann._support.validation import OneOf, validate
from lann.plot import _display as base

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# The title and the label of the vertical axis of each kind of curve.
KINDS = {
    "risk_coverage": ("Risk-coverage curve", "error of the accepted rows"),
    "accuracy_reject": ("Accuracy-reject curve", "accuracy on the accepted rows"),
    "precision_reject": ("Precision-reject curve of {}", "precision of {} on the accepted rows"),
    "recall_reject": ("Recall-reject curve of {}", "recall of {} on the accepted rows"),
}
# Fewer accepted rows, as a share, do not determine the limits of the axes: one error among them is much.
LEAST_COVERAGE = 0.1
LINE_STYLES = ("-", "--", "-.", ":")
# Marks the curves of this display on axes that have others.
CURVE = "lann-reject-curve"
SIZE = (5.2, 4.0)
LONGEST_NAME = 40


class RejectCurve(NamedTuple):
    """A curve of a classifier that rejects rows.

    Attributes
    ----------
    name : str
        Of the classifier, for the legend.
    shares : ndarray of shape (n_steps,)
        Shares of the rows that are accepted, or rejected, as the kind of the display says.
    values : ndarray of shape (n_steps,)
        The error, accuracy, precision or recall on the accepted rows.
    aurc : float
        The area under the risk-coverage curve.
    point : tuple of two floats or None, default=None
        The share and the value that a reject option has chosen.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.plot import RejectCurve
    >>> RejectCurve("LANN", np.array([0.5, 1.0]), np.array([0.0, 0.1]), 0.02).aurc
    0.02
    """

    name: str
    shares: Floats
    values: Floats
    aurc: float
    point: tuple[float, float] | None = None


class _Rows(NamedTuple):
    """The predictions of a classifier on some rows, each of shape (n_rows,)."""

    y_true: NDArray[Any]
    y_pred: NDArray[Any]
    certainty: Floats
    accepted: NDArray[np.bool_] | None = None


@dataclass(eq=False, repr=False)
class RejectDisplay(base.Display):
    """How good predictions are if the least certain ones are rejected, for every share of rejected rows.

    The curve of a good certainty is low on the left: the errors are among the rows that are rejected first.
    A dot marks what a fitted `RejectOption` does with these rows. It need not be on the curve: with several
    thresholds, or if far rows are rejected, other rows are rejected than those with the lowest certainty. The
    legend has the area under the risk-coverage curve (AURC); smaller is better.

    It is recommended to use :meth:`from_estimator` or :meth:`from_predictions` to create the display. Both
    draw on the axes of another display, ``ax=display.ax_``, too, which adds a curve.

    Parameters
    ----------
    curves : sequence of RejectCurve
        A curve for each classifier.
    kind : {"risk_coverage", "accuracy_reject", "precision_reject", "recall_reject"}, default="risk_coverage"
        What the curves are: the error by the share of accepted rows, or the accuracy, or the precision or
        recall of a class, by the share of rejected rows.
    class_name : str, default="the class"
        The class whose precision or recall is drawn, as named in the title.
    subtitle : str, default=""
        The second line of the title, such as the data and the number of rows.

    Attributes
    ----------
    figure_ : matplotlib Figure
        The figure.
    ax_ : matplotlib Axes
        The axes.
    lines_ : list of matplotlib Line2D
        The curves.

    See Also
    --------
    lann.reject.RejectOption : A classifier that rejects rows.
    lann.reject.risk_coverage_curve : Compute the curve.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann import LANNClassifier
    >>> from lann.plot import RejectDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LANNClassifier(max_iter=3, random_state=0).fit(X[::2], y[::2])
    >>> display = RejectDisplay.from_estimator(clf, X[1::2], y[1::2])
    >>> bool(display.curves[0].aurc < 0.02)
    True
    """

    curves: Sequence[RejectCurve]
    _: KW_ONLY
    kind: str = "risk_coverage"
    class_name: str = "the class"
    subtitle: str = ""

    def __post_init__(self) -> None:
        validate("kind", self.kind, OneOf(*KINDS))
        if not self.curves:
            raise ValueError("A RejectDisplay needs at least one curve; got none.")

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        kind: str = "risk_coverage",
        label: Any = None,
        name: str | None = None,
        data_name: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of a fitted classifier, or of several.

        Parameters
        ----------
        estimator : estimator instance or mapping of str to estimator
            A fitted `RejectOption`, whose certainty is used and whose choice is marked, or any fitted
            classifier with `predict_proba`, whose largest probability is the certainty. A mapping has several
            with their names.
        X : array-like of shape (n_samples, n_features)
            Rows that the classifier was not fitted to.
        y : array-like of shape (n_samples,)
            Their labels.
        kind : str, default="risk_coverage"
            "risk_coverage", "accuracy_reject", "precision_reject" or "recall_reject".
        label : object or None, default=None
            The class whose precision or recall is drawn. If None, the second one of two classes.
        name : str or None, default=None
            The name of the classifier in the legend; None for that of its class.
        data_name : str, default=""
            The name of the data, for the title.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : RejectDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid, or the classifier has no probabilities.
        """
        if isinstance(estimator, Mapping):
            if name is not None:
                raise ValueError("name must be None if several estimators are given, which have their names.")
            named = {str(key): fitted for key, fitted in estimator.items()}
        else:
            # A reject option has the name of the classifier inside.
            inner = getattr(estimator, "estimator_", estimator)
            named = {name or type(inner).__name__: estimator}
        rows = {key: _predict(fitted, X, y) for key, fitted in named.items()}
        return cls._from_rows(rows, kind, label, data_name).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        certainty: ArrayLike,
        *,
        accepted: ArrayLike | None = None,
        kind: str = "risk_coverage",
        label: Any = None,
        name: str = "Classifier",
        data_name: str = "",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the curve of predictions with their certainties.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,)
            Labels.
        y_pred : array-like of shape (n_samples,)
            Predicted labels.
        certainty : array-like of shape (n_samples,)
            The larger, the more certain the prediction.
        accepted : array-like of shape (n_samples,) or None, default=None
            Which predictions are accepted, as bools; they are marked. None if nothing is decided yet.
        kind : str, default="risk_coverage"
            "risk_coverage", "accuracy_reject", "precision_reject" or "recall_reject".
        label : object or None, default=None
            The class whose precision or recall is drawn. If None, the second one of two classes.
        name : str, default="Classifier"
            The name of the classifier in the legend.
        data_name : str, default=""
            The name of the data, for the title.
        ax : matplotlib Axes or None, default=None
            The axes to draw on. If None, a new figure is created.

        Returns
        -------
        display : RejectDisplay
            The display that was drawn.

        Raises
        ------
        ValueError
            If a parameter is invalid, or lengths differ.
        """
        truth, marks = np.asarray(y_true), None if accepted is None else np.asarray(accepted)
        if marks is not None and (marks.shape != truth.shape or marks.dtype != bool):
            raise ValueError(
                f"accepted must have a bool for each of the {len(truth)} rows; got {accepted!r}."
            )
        rows = _Rows(truth, np.asarray(y_pred), np.asarray(certainty, dtype=np.float64), marks)
        return cls._from_rows({name: rows}, kind, label, data_name).plot(ax)

    @classmethod
    def _from_rows(cls, rows: Mapping[str, _Rows], kind: str, label: Any, data_name: str) -> Self:
        """Compute the curves of classifiers on the same rows."""
        validate("kind", kind, OneOf(*KINDS))
        y_true, by_class = next(iter(rows.values())).y_true, kind in ("precision_reject", "recall_reject")
        if by_class and label is None:
            classes = np.unique(y_true)
            if len(classes) != 2:
                raise ValueError(f"label must name the class whose {kind.partition('_')[0]} is drawn.")
            label = classes[1]
        size = counted(len(y_true), "row")
        options = {"label": label} if by_class else {}
        return cls(
            [_curve(name, own, kind, options) for name, own in rows.items()],
            kind=kind,
            class_name=class_text(label) if by_class else "the class",
            subtitle=f"{data_name}: {size}" if data_name else size,
        )

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the display.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes to draw on; curves of other displays stay. If None, a new figure is created.

        Returns
        -------
        display : RejectDisplay
            The display itself.
        """
        self._create_axes(ax, SIZE, grid="both", percent="both")
        n_before = sum(line.get_gid() == CURVE for line in self.ax_.lines)
        names = base.short_names([curve.name for curve in self.curves], LONGEST_NAME)
        limits = [self.ax_.get_ylim()] if n_before else []
        self.lines_ = []
        for number, (curve, name) in enumerate(zip(self.curves, names, strict=True), n_before):
            self.lines_.append(self._draw(curve, name, number))
            limits.append(self._limits(curve))
        self.ax_.set(xlim=(0.0, 1.0), ylim=(np.min(limits), np.max(limits)))
        title, label = (text.format(self.class_name) for text in KINDS[self.kind])
        x_label = "accepted rows" if self.kind == "risk_coverage" else "rejected rows"
        self.ax_.set(xlabel=x_label, ylabel=base.escape_math(base.wrap_text(label, SIZE[1] - 0.6)))
        if n_before == 0:
            self._set_title(title, self.subtitle, width=SIZE[0] - 0.4)
        self.ax_.legend(fontsize=base.SMALL, framealpha=0.85, edgecolor="none", loc="best")
        return self

    def _draw(self, curve: RejectCurve, name: str, number: int) -> Line2D:
        """Draw a curve and its point; return the curve."""
        color, style = class_color(number), LINE_STYLES[number % len(LINE_STYLES)]
        # If fewer rows are accepted than have the largest certainty, some of these at random: as good as all.
        shares, values = np.asarray(curve.shares, float), np.asarray(curve.values, float)
        if self.kind == "risk_coverage":
            shares, values = np.append(0.0, shares), np.append(values[0], values)
        else:
            shares, values = np.append(shares, 1.0), np.append(values, values[-1])
        label = f"{name} (AURC = {curve.aurc:.3g})"
        (line,) = self.ax_.plot(shares, values, style, color=color, linewidth=1.6, gid=CURVE, label=label)
        if curve.point is not None:
            accepted = self._accepted(curve.point[0])
            self.ax_.plot(
                *curve.point, "o", color=color, markersize=8, markeredgecolor="white",
                label=f"chosen: {100 * accepted:.3g}% accepted", clip_on=False, zorder=5,
            )  # fmt: skip
        return line

    def _accepted(self, share: Any) -> Any:
        """Return shares of the rows as shares of accepted ones."""
        return share if self.kind == "risk_coverage" else 1.0 - share

    def _limits(self, curve: RejectCurve) -> tuple[float, float]:
        """Return the vertical limits for a curve, of steps that accept enough rows."""
        accepted = self._accepted(np.asarray(curve.shares, float))
        values = np.asarray(curve.values, float)[accepted >= min(LEAST_COVERAGE, accepted.max())]
        values = np.append(values, [] if curve.point is None else curve.point[1])
        low, high = np.nanmin(values, initial=1.0), np.nanmax(values, initial=0.0)
        low = 0.0 if self.kind == "risk_coverage" else low
        margin = 0.03 * max(high - low, 0.01)  # lines at 0 and 100% are seen in full
        return low - margin, high + 2 * margin


def _predict(estimator: Any, X: Any, y: ArrayLike) -> _Rows:
    """Return the predictions of a fitted classifier, or of a reject option, with their certainties."""
    truth = np.asarray(y)
    if isinstance(estimator, reject.RejectOption):
        accepted = np.asarray(estimator.decision(X)) == "accepted"
        return _Rows(truth, estimator.estimator_.predict(X), estimator.certainties(X), accepted)
    if not hasattr(estimator, "predict_proba"):
        raise ValueError(
            f"{type(estimator).__name__} has no predict_proba; use from_predictions with its certainties."
        )
    probabilities = estimator.predict_proba(X)
    return _Rows(truth, estimator.classes_[probabilities.argmax(axis=1)], probabilities.max(axis=1))


def _curve(name: str, rows: _Rows, kind: str, options: dict[str, Any]) -> RejectCurve:
    """Compute a curve, its area, and the point of what is accepted."""
    function = getattr(reject, f"{kind}_curve")
    shares, values = function(rows.y_true, rows.y_pred, rows.certainty, **options)
    area = reject.aurc(rows.y_true, rows.y_pred, rows.certainty)
    point = None
    if rows.accepted is not None and rows.accepted.any():
        # With the certainties 1 and 0, the rows that are accepted are the first step of the risk by coverage,
        # and the last one of the others.
        steps = function(rows.y_true, rows.y_pred, rows.accepted.astype(np.float64), **options)
        step = 0 if kind == "risk_coverage" else -1
        point = float(steps[0][step]), float(steps[1][step])
    return RejectCurve(name, shares, values, area, point)

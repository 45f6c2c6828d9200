"""What an evaluation is without the least certain predictions: the error by the share that is accepted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._format import figure, percent
from lann._types import Floats
from lann.report._evaluation.predictions import Predictions

# Shares of the rows that are accepted, in tables.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)


@dataclass(frozen=True, eq=False)
class RiskCurve:
    """The error of the accepted rows of a method, by the share of accepted rows.

    Attributes
    ----------
    method : str
    coverages, risks : ndarray of shape (n_steps,)
        Shares of the rows that are accepted, ascending to 1, and shares of these that are wrong. Rows are
        accepted in the order of falling certainty, and rows of equal certainty together.
    aurc : float
        The area under the risk-coverage curve.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.report import RiskCurve
    >>> curve = RiskCurve("LANN", np.array([0.5, 1.0]), np.array([0.0, 0.1]), 0.02)
    >>> curve.risk_at(0.5), curve.risk_at(0.75)
    (0.0, 0.05)
    """

    method: str
    coverages: Floats
    risks: Floats
    aurc: float

    def risk_at(self, coverage: float) -> float:
        """Return the error if a share of the rows is accepted, expected where equal certainties decide.

        Parameters
        ----------
        coverage : float

        Returns
        -------
        risk : float
        """
        return float(np.interp(coverage, self.coverages, self.risks))


@dataclass(frozen=True, eq=False)
class Rejection:
    """What the error is if the least certain predictions are rejected.

    Attributes
    ----------
    certainty : {"probability", "combined"}
        The certainty of the model: the largest probability, or that of its reject option. Other methods have
        the largest probability.
    curves : list of RiskCurve
        Of the model, and of kNN if the training rows are known. Every row counts once.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> rejection = evaluate(clf, X[1::2], y[1::2]).rejection
    >>> rejection.curves[0].method, bool(rejection.aurc < 0.02)
    ('LANN', True)
    """

    certainty: str
    curves: list[RiskCurve]

    @property
    def aurc(self) -> float:
        """The area under the risk-coverage curve of the model."""
        return self.curves[0].aurc

    @property
    def sentence(self) -> str:
        """What the error is if a tenth of the rows is rejected, in a sentence."""
        before, after = (self.curves[0].risk_at(coverage) for coverage in (1.0, 0.9))
        if before == 0:
            return "No prediction is wrong, so that there is nothing to reject."
        gone = 1.0 - 0.9 * after / before
        return (
            f"Without the least certain 10% of the rows, the error is {percent(after, 1)} in place of "
            f"{percent(before, 1)}: {percent(gone)} of the mistakes are among these rows."
        )

    @property
    def areas(self) -> str:
        """The areas of all methods, in a sentence."""
        others = "".join(f", {curve.method} {figure_of_area(curve.aurc)}" for curve in self.curves[1:])
        return f"Area under the risk-coverage curve (AURC): {figure_of_area(self.aurc)}{others}."


def figure_of_area(area: float) -> str:
    """Return an area as text: with three decimals, or two digits if it is small.

    >>> figure_of_area(0.1234), figure_of_area(0.00123)
    ('0.123', '0.0012')
    """
    return figure(area) if area >= 0.01 or area == 0 else f"{area:.2g}"


def rejection(methods: dict[str, Predictions], certainties: Floats | None) -> Rejection:
    """Return the risk-coverage curves of methods; the first one is the model.

    Parameters
    ----------
    methods : dict of str to Predictions
        A guess, which has no certainty, is left out.
    certainties : ndarray of shape (n_rows,) or None
        Of the model; None is the largest probability.
    """
    from lann.reject import aurc, risk_coverage_curve

    curves: list[RiskCurve] = []
    for name, rows in methods.items():
        if name == "majority":
            continue
        values = rows.confidences if curves or certainties is None else certainties
        found = rows.truth, rows.predicted, values
        curves.append(RiskCurve(name, *risk_coverage_curve(*found), aurc(*found)))
    return Rejection("probability" if certainties is None else "combined", curves)

"""Calibration, rejection, slices and mistakes of a model on test rows.

Many slices are looked at, so that some look bad by chance. Each is compared with all other rows by a
one-sided exact test (Fisher's), and p-values are corrected for the number of slices (Holm's method).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from lann._support.format import counted, figure, percent
from lann._support.types import Floats, Indices
from lann.report._evaluation.scores import Predictions, Score, wilson_interval
from lann.tables import Column

N_BINS = 10
# Draws of a calibrated model, and numbers of a block of them.
N_DRAWS, BLOCK = 500, 4_000_000
# Bins with fewer rows are not mentioned in sentences.
MENTIONED_ROWS = 10
MOST_SENTENCES = 3


@dataclass(frozen=True)
class ReliabilityBin:
    """Test rows whose predictions have similar probabilities.

    Attributes
    ----------
    low, high : float
        Bounds of the probability.
    n_rows, n_wrong : int
        Number of rows, and of those that are predicted wrongly.
    mean_probability : float
        Mean probability of the predictions.
    accuracy : Score
        Share of the predictions that are correct.

    Examples
    --------
    >>> from lann.report import ReliabilityBin, Score
    >>> ReliabilityBin(0.9, 1.0, 50, 10, 0.97, Score(0.8, 0.67, 0.89)).is_off
    True
    """

    low: float
    high: float
    n_rows: int
    n_wrong: int
    mean_probability: float
    accuracy: Score

    @property
    def is_off(self) -> bool:
        """Whether the mean probability is outside of the 95% interval of the accuracy."""
        return not self.accuracy.low <= self.mean_probability <= self.accuracy.high

    @property
    def sentence(self) -> str:
        """The bin in a sentence: "When it said 97%, it was right in 96% (143 rows)."."""
        said, right = percent(self.mean_probability), percent(self.accuracy.value)
        return f"When it said {said}, it was right in {right} ({counted(self.n_rows, 'row')})."


@dataclass(frozen=True)
class Reliability:
    """How often predictions are correct, by their probability.

    Attributes
    ----------
    bins : list of ReliabilityBin
        Ten ranges of the probability of the prediction, without those that have no rows.
    expected_calibration_error : float
        Mean difference of probability and accuracy over the bins, weighted by their rows.
    chance_calibration_error : Score
        What it would be if every probability were right, on as many rows: its mean, and the range of 95% of
        random draws. An error within it is not evidence against the probabilities.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> reliability = evaluate(clf, X[1::2], y[1::2]).reliability
    >>> reliability.bins[-1].n_rows, reliability.expected_calibration_error < 0.05
    (269, True)
    """

    bins: list[ReliabilityBin]
    expected_calibration_error: float
    chance_calibration_error: Score

    @property
    def is_calibrated(self) -> bool:
        """Whether the error is within what random draws have if every probability is right."""
        return self.expected_calibration_error <= self.chance_calibration_error.high

    @property
    def sentences(self) -> list[str]:
        """The bin with the most rows, and bins whose probabilities are off, in a sentence each."""
        largest = max(self.bins, key=lambda part: part.n_rows)
        off = [
            part
            for part in self.bins
            if part.is_off and part.n_rows >= MENTIONED_ROWS and part is not largest
        ]
        off = sorted(off, key=lambda part: -part.n_rows)[: MOST_SENTENCES - 1]
        return [part.sentence for part in (largest, *sorted(off, key=lambda part: -part.low))]

    @property
    def share_of_mistakes(self) -> str:
        """How many of the mistakes have a low probability, in a sentence; "" if that is not to be said.

        The bound is where the share of the mistakes below it exceeds the share of the rows most.
        """
        n_rows, n_wrong = (np.cumsum([getattr(p, name) for p in self.bins]) for name in ("n_rows", "n_wrong"))
        if n_wrong[-1] == 0 or len(self.bins) < 2:
            return ""
        row_shares, mistake_shares = n_rows / n_rows[-1], n_wrong / n_wrong[-1]
        best = int(np.argmax(mistake_shares - row_shares))
        if mistake_shares[best] <= row_shares[best]:
            return ""
        rows, mistakes = percent(row_shares[best]), percent(mistake_shares[best])
        bound = f"a probability below {self.bins[best].high:.0%}"
        return f"{rows} of the rows have {bound}, and {mistakes} of the mistakes are among them."

    @property
    def verdict(self) -> str:
        """The calibration error beside that of chance, in a sentence."""
        error, chance = self.expected_calibration_error, self.chance_calibration_error
        expected = (
            f"probabilities that are right would have {percent(chance.value, 1)} on as many rows, and up to "
            f"{percent(chance.high, 1)} by chance"
        )
        verdict = "not evidence that the probabilities are off" if self.is_calibrated else "more than chance"
        return f"Expected calibration error {percent(error, 1)}: {expected}. This is {verdict}."


def reliability(rows: Predictions, random_state: int) -> Reliability:
    """Return how often predictions are correct, by their probability.

    Parameters
    ----------
    rows : Predictions
    random_state : int
        Determines the draws of a calibrated model.
    """
    confidences, correct = rows.confidences, rows.correct.astype(float)
    # A rounding error below 0.9 is 0.9, and 1 belongs to the last bin.
    numbers = np.minimum((confidences * N_BINS + 1e-9).astype(np.int64), N_BINS - 1)
    bins = []
    for number in np.unique(numbers):
        own = numbers == number
        weights = rows.weights[own]
        accuracy = Score(
            float(np.average(correct[own], weights=weights)), *wilson_interval(correct[own], weights)
        )
        mean = float(np.average(confidences[own], weights=weights))
        n_rows, n_wrong = int(own.sum()), int((own & ~rows.correct).sum())
        low, high = number / N_BINS, (number + 1) / N_BINS
        bins.append(ReliabilityBin(low, high, n_rows, n_wrong, mean, accuracy))
    shares = rows.weights / rows.weights.sum()
    indicators = (numbers == np.arange(N_BINS)[:, None]) * shares  # (N_BINS, n_rows)
    error = float(np.abs(indicators @ (correct - confidences)).sum())
    draws = _chance_errors(confidences, indicators, np.random.default_rng(random_state))
    low, high = np.quantile(draws, [0.025, 0.975])
    return Reliability(bins, error, Score(float(draws.mean()), float(low), float(high)))


def _chance_errors(confidences: Floats, indicators: Floats, rng: np.random.Generator) -> Floats:
    """Return calibration errors of random labels for which every probability is right: (N_DRAWS,)."""
    n_rows, errors = len(confidences), []
    most = max(BLOCK // n_rows, 1)
    for start in range(0, N_DRAWS, most):
        drawn = rng.random((min(most, N_DRAWS - start), n_rows)) < confidences
        errors.append(np.abs((drawn - confidences) @ indicators.T).sum(axis=1))
    return np.concatenate(errors)


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


# A slice and the rest have as many rows, at least.
LEAST_ROWS = 20
# Numbers with more different values are cut at their quartiles.
MOST_VALUES = 6
QUARTILES = (0.25, 0.5, 0.75)
LEVEL = 0.05

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Slice:
    """Test rows with a certain value of a column.

    Attributes
    ----------
    column : str
    values : str
        The value or the range of values, or "missing".
    n_rows, n_wrong : int
        Number of rows, and of those that are predicted wrongly.
    accuracy : Score
    accuracy_elsewhere : float
        Accuracy on all other rows.
    mean_probability : float
        Mean probability of the predictions: what the model expects its accuracy to be.
    p_value : float
        Probability of an accuracy as low by chance, corrected for the number of slices.
    is_used : bool
        Whether the model uses the column.

    Examples
    --------
    >>> from lann.report import Score, Slice
    >>> part = Slice("sex", "male", 120, 30, Score(0.75, 0.67, 0.82), 0.9, 0.8, 0.003)
    >>> part.name, part.is_worse
    ('sex: male', True)
    """

    column: str
    values: str
    n_rows: int
    n_wrong: int
    accuracy: Score
    accuracy_elsewhere: float
    mean_probability: float
    p_value: float
    is_used: bool = True

    @property
    def name(self) -> str:
        """The column and its values, such as "age: 21 to 28"."""
        return f"{self.column}: {self.values}"

    @property
    def is_worse(self) -> bool:
        """Whether the accuracy is lower than elsewhere beyond chance: the p-value is below 5%."""
        return self.p_value < LEVEL


def find_slices(
    rows: Predictions, values: pd.DataFrame, columns: Sequence[Column], used: Sequence[str]
) -> list[Slice]:
    """Return all slices with enough rows; those that are least likely by chance first.

    Parameters
    ----------
    rows : Predictions
    values : DataFrame of shape (n_rows, n_columns)
        As `lann.tables.apply_columns` returns them.
    columns : sequence of Column
        What the columns have.
    used : sequence of str
        Names of the columns that the model uses.
    """
    found = [
        (column, text, mask)
        for column in columns
        for text, mask in _parts(column, values[column.name])
        if min(mask.sum(), (~mask).sum()) >= LEAST_ROWS
    ]
    if not found:
        return []
    masks = np.array([mask for *_, mask in found])  # (n_slices, n_rows)
    correct, weights = rows.correct, rows.weights
    n_rows, n_correct = masks.sum(axis=1), masks @ correct.astype(np.int64)
    raw = hypergeom.cdf(n_correct, len(rows), int(correct.sum()), n_rows)
    corrected = holm(raw)
    slices = []
    for i, (column, text, mask) in enumerate(found):
        own, rest = weights[mask], weights[~mask]
        is_right = correct[mask].astype(float)
        slices.append(
            Slice(
                column=column.name,
                values=text,
                n_rows=int(n_rows[i]),
                n_wrong=int(n_rows[i] - n_correct[i]),
                accuracy=Score(float(np.average(is_right, weights=own)), *wilson_interval(is_right, own)),
                accuracy_elsewhere=float(np.average(correct[~mask], weights=rest)),
                mean_probability=float(np.average(rows.confidences[mask], weights=own)),
                p_value=float(corrected[i]),
                is_used=column.name in set(used),
            )
        )
    order = np.lexsort([[part.accuracy.value for part in slices], raw])
    return [slices[i] for i in order]


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number by Holm's method.

    >>> holm(np.array([0.01, 0.5, 0.03])).round(2).tolist()
    [0.03, 0.5, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = len(p_values) - np.arange(len(p_values))
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def _parts(column: Column, values: pd.Series) -> Iterator[tuple[str, Mask]]:
    """Yield the values or ranges of a column, and which rows have them."""
    is_missing = values.isna().to_numpy()
    if is_missing.any():
        yield "missing", is_missing
    present = values[~is_missing]
    distinct = np.sort(present.unique()) if column.kind in ("number", "date") else present.unique()
    if column.kind in ("number", "date") and len(distinct) > MOST_VALUES:
        yield from _ranges(column, values, is_missing)
        return
    for value in distinct:
        yield column.format(value), (values == value).fillna(False).to_numpy(dtype=bool)


def _ranges(column: Column, values: pd.Series, is_missing: Mask) -> Iterator[tuple[str, Mask]]:
    """Yield ranges between the quartiles; equal values are never apart."""
    numbers = values.to_numpy().astype("datetime64[ns]").astype(float) if column.kind == "date" else values
    numbers = np.asarray(numbers, dtype=float)
    present = numbers[~is_missing]
    edges = np.unique(np.quantile(present, QUARTILES, method="lower"))
    bins = np.where(is_missing, -1, np.searchsorted(edges, numbers, side="left"))
    for number in range(len(edges) + 1):
        mask = bins == number
        if mask.any():
            own = values[mask]
            low, high = column.format(own.min()), column.format(own.max())
            yield (low if low == high else f"{low} to {high}"), mask


@dataclass(frozen=True)
class Mistake:
    """A test row whose prediction is wrong.

    Attributes
    ----------
    row : int
        Its row number in the table.
    id : str or None
        Its name.
    label, prediction : object
    probability : float
        Probability of the prediction.
    label_probability : float
        Probability of the label; NaN if the model does not know it.
    sentence : str or None
        The explanation of the prediction in a sentence; None if the model has none.

    Examples
    --------
    >>> from lann.report import Mistake
    >>> mistake = Mistake(3, None, "benign", "malignant", 0.9, 0.1, None)
    >>> mistake.title
    'Row 3'
    """

    row: int
    id: str | None
    label: Any
    prediction: Any
    probability: float
    label_probability: float
    sentence: str | None

    @property
    def title(self) -> str:
        """How the row is named, such as "Row 3" or "Row 3: Jane"."""
        return f"Row {self.row}" if self.id is None else f"Row {self.row}: {self.id}"


def confident_mistakes(
    rows: Predictions,
    n_mistakes: int,
    row_numbers: Indices,
    ids: NDArray[Any] | None,
    explain: Callable[[Indices], list[str]] | None,
) -> list[Mistake]:
    """Return the mistakes with the highest probabilities, the highest first.

    Parameters
    ----------
    rows : Predictions
    n_mistakes : int
        Number of mistakes, at most.
    row_numbers : (n_rows,)
    ids : (n_rows,) or None
    explain : callable or None
        From positions of rows to a sentence for each.
    """
    classes = rows.classes.tolist()
    wrong = np.flatnonzero(~rows.correct)
    shown = wrong[np.argsort(-rows.confidences[wrong], kind="stable")][:n_mistakes]
    sentences = [None] * len(shown) if explain is None or len(shown) == 0 else explain(shown)
    return [
        Mistake(
            row=int(row_numbers[i]),
            id=None if ids is None else str(ids[i]),
            label=classes[rows.truth[i]],
            prediction=classes[rows.predicted[i]],
            probability=float(rows.confidences[i]),
            label_probability=(
                float(rows.probabilities[i, rows.truth[i]]) if rows.is_known[i] else float("nan")
            ),
            sentence=sentence,
        )
        for i, sentence in zip(shown, sentences, strict=True)
    ]

"""Calibration, rejection, slices and mistakes of a model on test rows, with the sentences about them.

Many slices are looked at, so that some look bad by chance. Each is compared with all other rows by a
one-sided exact test (Fisher's), and p-values are corrected for the number of slices (Holm's method).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.stats import hypergeom

from lann._support.format import counted, figure, percent
from lann._support.types import Floats
from lann.columns.text import Column
from lann.report._scores import Predictions, Score

N_BINS = 10
# Draws of a calibrated model, and numbers of a block of them.
N_DRAWS, BLOCK = 500, 4_000_000
# Bins with fewer rows are not mentioned in sentences.
MENTIONED_ROWS = 10
MOST_SENTENCES = 3
# Shares of the rows that are accepted, in tables.
COVERAGES = (1.0, 0.95, 0.9, 0.8, 0.7, 0.5)
# A slice and the rest have at least this number of rows.
LEAST_ROWS = 20
# Numbers with more different values are cut at their quartiles.
MOST_VALUES = 6
QUARTILES = (0.25, 0.5, 0.75)
LEVEL = 0.05


class Reliability(NamedTuple):
    """How often predictions are correct, by their probability.

    Attributes
    ----------
    bins : DataFrame
        A line for each of ten ranges of the probability of the prediction that has rows: ``low`` and
        ``high`` (the range), ``n_rows``, ``n_wrong``, ``mean_probability``, ``accuracy``, ``accuracy_low``
        and ``accuracy_high`` (its 95% interval), and ``is_off`` (the mean probability is outside of it).
    expected_calibration_error : float
        Mean difference of probability and accuracy over the bins, weighted by their rows.
    chance_calibration_error : Score
        What it would be if every probability were right, on as many rows: its mean, and the range of 95% of
        random draws. An error within it is not evidence against the probabilities.
    is_calibrated : bool
        Whether the error is within what random draws have if every probability is right.
    sentences : list of str
        The bin with the most rows, bins whose probabilities are off, and how many of the mistakes have a low
        probability.
    verdict : str
        The calibration error beside that of chance, in a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> reliability = evaluate(clf, X[1::2], y[1::2]).reliability
    >>> reliability.bins["n_rows"].iloc[-1], reliability.expected_calibration_error < 0.05
    (np.int64(269), True)
    """

    bins: pd.DataFrame
    expected_calibration_error: float
    chance_calibration_error: Score
    is_calibrated: bool
    sentences: list[str]
    verdict: str


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
    lines = []
    for number in np.unique(numbers):
        own = numbers == number
        mean = float(np.average(confidences[own], weights=rows.weights[own]))
        accuracy = rows.accuracy(own)
        is_off = not accuracy.low <= mean <= accuracy.high
        n_wrong = int((own & ~rows.correct).sum())
        limits = number / N_BINS, (number + 1) / N_BINS
        lines.append([*limits, int(own.sum()), n_wrong, mean, *accuracy, is_off])
    columns = ["low", "high", "n_rows", "n_wrong", "mean_probability"]
    columns += ["accuracy", "accuracy_low", "accuracy_high", "is_off"]
    bins = pd.DataFrame(lines, columns=columns)
    shares = rows.weights / rows.weights.sum()
    indicators = (numbers == np.arange(N_BINS)[:, None]) * shares  # (N_BINS, n_rows)
    error = float(np.abs(indicators @ (correct - confidences)).sum())
    draws = _chance_errors(confidences, indicators, np.random.default_rng(random_state))
    chance = Score(float(draws.mean()), *np.quantile(draws, [0.025, 0.975]).tolist())
    is_calibrated = error <= chance.high
    verdict = (
        f"Expected calibration error {percent(error, 1)}: probabilities that are right would have "
        f"{percent(chance.value, 1)} on as many rows, and up to {percent(chance.high, 1)} by chance. This is "
        f"{'not evidence that the probabilities are off' if is_calibrated else 'more than chance'}."
    )
    return Reliability(bins, error, chance, is_calibrated, _bin_sentences(bins), verdict)


def bin_sentence(part: Any) -> str:
    """Return a bin in a sentence: "When it said 97%, it was right in 96% (143 rows)."."""
    said, right = percent(part.mean_probability), percent(part.accuracy)
    return f"When it said {said}, it was right in {right} ({counted(part.n_rows, 'row')})."


def _bin_sentences(bins: pd.DataFrame) -> list[str]:
    """Return sentences about the most frequent and the wrong probabilities, and where mistakes are."""
    largest = bins["n_rows"].idxmax()
    is_listed = bins["is_off"] & (bins["n_rows"] >= MENTIONED_ROWS) & (bins.index != largest)
    off = bins[is_listed].sort_values("n_rows", ascending=False, kind="stable")[: MOST_SENTENCES - 1]
    listed = pd.concat([bins.loc[[largest]], off.sort_values("low", ascending=False)])
    sentences = [bin_sentence(part) for part in listed.itertuples()]
    rows, mistakes = bins["n_rows"].cumsum(), bins["n_wrong"].cumsum()
    if mistakes.iloc[-1] and len(bins) > 1:
        rows, mistakes = rows / rows.iloc[-1], mistakes / mistakes.iloc[-1]
        # The bound where the share of the mistakes below it exceeds the share of the rows most.
        best = (mistakes - rows).idxmax()
        if mistakes[best] > rows[best]:
            sentences.append(
                f"{percent(rows[best])} of the rows have a probability below {bins['high'][best]:.0%}, and "
                f"{percent(mistakes[best])} of the mistakes are among them."
            )
    return sentences


def _chance_errors(confidences: Floats, indicators: Floats, rng: np.random.Generator) -> Floats:
    """Return calibration errors of random labels for which every probability is right: (N_DRAWS,)."""
    n_rows, errors = len(confidences), []
    most = max(BLOCK // n_rows, 1)
    for start in range(0, N_DRAWS, most):
        drawn = rng.random((min(most, N_DRAWS - start), n_rows)) < confidences
        errors.append(np.abs((drawn - confidences) @ indicators.T).sum(axis=1))
    return np.concatenate(errors)


class RiskCurve(NamedTuple):
    """The error of the accepted rows of a method, by the share of accepted rows.

    Attributes
    ----------
    method : str
    coverages, risks : ndarray of shape (n_steps,)
        Of `lann.reject.risk_coverage_curve`.
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


class Rejection(NamedTuple):
    """What the error is if the least certain predictions are rejected.

    Attributes
    ----------
    certainty : {"probability", "combined"}
        The certainty of the model: the largest probability, or that of its reject option. Other methods have
        the largest probability.
    curves : list of RiskCurve
        Of the model, and of kNN if the training rows are known. Every row counts once.
    sentence : str
        What the error is if a tenth of the rows is rejected.
    areas : str
        The areas of all methods, in a sentence.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X[::2], y[::2])
    >>> rejection = evaluate(clf, X[1::2], y[1::2]).rejection
    >>> rejection.curves[0].method, bool(rejection.curves[0].aurc < 0.02)
    ('LANN', True)
    """

    certainty: str
    curves: list[RiskCurve]
    sentence: str
    areas: str


def rejection(methods: Mapping[str, Predictions], certainties: Floats | None) -> Rejection:
    """Return the risk-coverage curves of methods; the first one is the model.

    Parameters
    ----------
    methods : mapping of str to Predictions
        A guess, which has no certainty, is left out.
    certainties : ndarray of shape (n_rows,) or None
        Of the model; None is the largest probability.
    """
    from lann.reject import aurc, risk_coverage_curve

    curves: list[RiskCurve] = []
    for name, rows in methods.items():
        if name != "majority":
            values = rows.confidences if curves or certainties is None else certainties
            outcome = rows.truth, rows.predicted, values
            curves.append(RiskCurve(name, *risk_coverage_curve(*outcome), aurc(*outcome)))
    before, after = curves[0].risk_at(1.0), curves[0].risk_at(0.9)
    sentence = "No prediction is wrong, so that there is nothing to reject."
    if before:
        sentence = (
            f"Without the least certain 10% of the rows, the error is {percent(after, 1)} in place of "
            f"{percent(before, 1)}: {percent(1.0 - 0.9 * after / before)} of the mistakes are among these "
            "rows."
        )
    areas = [figure(c.aurc) if c.aurc >= 0.01 or c.aurc == 0 else f"{c.aurc:.2g}" for c in curves]
    others = [f"{curve.method} {area}" for curve, area in zip(curves[1:], areas[1:], strict=True)]
    listed = f"Area under the risk-coverage curve (AURC): {', '.join([areas[0], *others])}."
    return Rejection("probability" if certainties is None else "combined", curves, sentence, listed)


def find_slices(
    rows: Predictions, values: pd.DataFrame, columns: Sequence[Column], used: Sequence[str]
) -> pd.DataFrame:
    """Return all slices with enough rows, as `Evaluation.slices`.

    Parameters
    ----------
    rows : Predictions
    values : DataFrame of shape (n_rows, n_columns)
        As `lann.tables.apply_columns` returns them.
    columns : sequence of Column
        What the columns hold.
    used : sequence of str
        Names of the columns that the model uses.
    """
    lines = []
    for column in columns:
        for text, mask in _parts(column, values[column.name]):
            if min(mask.sum(), (~mask).sum()) >= LEAST_ROWS:
                n_wrong = int((mask & ~rows.correct).sum())
                elsewhere = float(np.average(rows.correct[~mask], weights=rows.weights[~mask]))
                mean = float(np.average(rows.confidences[mask], weights=rows.weights[mask]))
                figures = [int(mask.sum()), n_wrong, *rows.accuracy(mask), elsewhere, mean]
                lines.append([column.name, text, *figures, column.name in used])
    names = ["column", "values", "n_rows", "n_wrong", "accuracy", "accuracy_low", "accuracy_high"]
    names += ["accuracy_elsewhere", "mean_probability", "is_used"]
    slices = pd.DataFrame(lines, columns=names).astype(dict.fromkeys(names[2:4], int))
    n_correct = slices["n_rows"] - slices["n_wrong"]
    raw = hypergeom.cdf(n_correct, len(rows), int(rows.correct.sum()), slices["n_rows"])
    p_values = holm(raw)
    slices = slices.assign(p_value=p_values, is_worse=p_values < LEVEL)
    return slices.iloc[np.lexsort([slices["accuracy"], raw])].reset_index(drop=True)


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


def _parts(column: Column, values: pd.Series) -> Iterator[tuple[str, NDArray[np.bool_]]]:
    """Yield the values or ranges of a column, and which rows have them."""
    is_missing, is_continuous = values.isna().to_numpy(), column.kind in ("number", "date")
    if is_missing.any():
        yield "missing", is_missing
    distinct = values[~is_missing].unique()
    if not is_continuous or len(distinct) <= MOST_VALUES:
        for value in np.sort(distinct) if is_continuous else distinct:
            yield column.format(value), (values == value).fillna(False).to_numpy(dtype=bool)
        return
    # Ranges between the quartiles; equal values are never apart.
    numbers = values.to_numpy().astype("datetime64[ns]") if column.kind == "date" else values
    numbers = np.asarray(numbers, dtype=float)
    edges = np.unique(np.quantile(numbers[~is_missing], QUARTILES, method="lower"))
    bins = np.where(is_missing, -1, np.searchsorted(edges, numbers, side="left"))
    for number in np.unique(bins[bins >= 0]):
        mask = bins == number
        low, high = (column.format(value) for value in (values[mask].min(), values[mask].max()))
        yield (low if low == high else f"{low} to {high}"), mask

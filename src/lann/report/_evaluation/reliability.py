"""Calibration: how often predictions are correct, by the probability that the model gave them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._format import counted, percent
from lann._types import Floats
from lann.report._evaluation.predictions import Predictions
from lann.report._evaluation.scores import Score, wilson_interval

N_BINS = 10
# Draws of a calibrated model, and numbers of a block of them.
N_DRAWS, BLOCK = 500, 4_000_000
# Bins with fewer rows are not mentioned in sentences.
LEAST_ROWS = 10
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
            part for part in self.bins if part.is_off and part.n_rows >= LEAST_ROWS and part is not largest
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

"""Alarms: a sequential test of whether a classifier errs more often than before."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lann import _native
from lann._support.validation import Integer, validate

# Rows and columns of the state of the compiled test.
STATE_SHAPE = (6, 3)
MOST_ALARMS = 1000


class Alarm(NamedTuple):
    """A time at which a classifier is found to err more often than before.

    Attributes
    ----------
    row : int
        Position of the row that raised the alarm, from 0, among all rows.
    onset : int
        Estimated position of the first row with more errors.
    error_before, error_after : float
        Share of errors before the onset, back to the last change, and from the onset to the alarm.
    """

    row: int
    onset: int
    error_before: float
    error_after: float


class DriftDetector:
    """Sequential test of whether a classifier errs more often than before.

    The test reads whether each prediction was wrong, before the row is learned, and raises an alarm where
    errors become more frequent. As long as they do not, alarms are at least `rows_per_false_alarm` rows apart
    on the mean. A classifier that improves raises none.

    Parameters
    ----------
    rows_per_false_alarm : int, default=50_000
        Mean number of rows between false alarms, at least. With fewer rows, drifts are found earlier.

    Attributes
    ----------
    alarms : list of Alarm
        The last alarms, at most 1000.
    n_alarms : int
        Number of alarms.

    See Also
    --------
    SAMLANN : Has a detector for its own predictions; its alarms are `alarms_`.
    PrequentialEvaluation : Has one for the predictions of any classifier.

    Notes
    -----
    Among rows without a change, errors come in random order. The test bets at every row that there are more
    errors than this order lets expect, with odds that are fair as long as there is no change; the alarm is
    raised when the gains of all bets that began at any earlier row add up to `rows_per_false_alarm`. Their
    sum grows by one per row on the mean, so that this takes as many rows on the mean if nothing changes
    (an e-detector of Shiryaev and Roberts on conformal e-values). The bets are on error rates of p^0.3,
    p^0.6 and p^0.9 in place of the rate p so far. The same test for fewer errors forgets the earlier, higher
    rate. After an alarm, the test starts again. A row takes constant time and memory.

    References
    ----------
    V. Vovk, I. Petej, I. Nouretdinov, E. Ahlberg, L. Carlsson, A. Gammerman: Retrain or not retrain:
    conformal test martingales for change-point detection. COPA, PMLR 152, 2021.

    J. Shin, A. Ramdas, A. Rinaldo: E-detectors: a nonparametric framework for sequential change detection.
    New England Journal of Statistics in Data Science 2, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.streams import DriftDetector
    >>> error_rate = np.repeat([0.3, 0.05, 0.4], 1000)  # learns, and then the data change
    >>> errors = np.random.default_rng(0).random(3000) < error_rate
    >>> detector = DriftDetector()
    >>> [(alarm.row, alarm.onset) for alarm in detector.update(errors)]
    [(2010, 2001)]
    """

    def __init__(self, *, rows_per_false_alarm: int = 50_000) -> None:
        validate("rows_per_false_alarm", rows_per_false_alarm, Integer(1))
        self.rows_per_false_alarm = rows_per_false_alarm
        self.alarms: list[Alarm] = []
        self.n_alarms = 0
        self.state = np.zeros(STATE_SHAPE)

    def update(self, errors: ArrayLike) -> list[Alarm]:
        """Read whether the predictions of the next rows were wrong.

        Parameters
        ----------
        errors : array-like of bool of shape (n_rows,)

        Returns
        -------
        alarms : list of Alarm
            Those of these rows.

        Raises
        ------
        ValueError
            If an entry is neither true nor false.
        """
        values = np.asarray(errors)
        if values.dtype != np.bool_ and not np.isin(values, (0, 1)).all():
            raise ValueError("errors must be true or false for each row: whether its prediction was wrong.")
        flags = values.astype(np.bool_, copy=False).view(np.uint8)
        state = self.state.copy()
        found = _native.find_alarms(flags, state, float(self.rows_per_false_alarm))
        self.state = state
        alarms = [Alarm(int(row), int(onset), before, after) for row, onset, before, after in found]
        self.alarms = [*self.alarms, *alarms][-MOST_ALARMS:]
        self.n_alarms += len(alarms)
        return alarms

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON has it; a detector made of it continues with the same bits.

        Returns
        -------
        state : dict
        """
        return vars(self) | {"alarms": [list(alarm) for alarm in self.alarms], "state": self.state.tolist()}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> DriftDetector:
        """Return the detector of which `to_dict` has made the state.

        Parameters
        ----------
        state : dict

        Returns
        -------
        detector : DriftDetector
        """
        detector = cls(rows_per_false_alarm=state["rows_per_false_alarm"])
        detector.alarms = [Alarm(int(row), int(onset), *shares) for row, onset, *shares in state["alarms"]]
        detector.n_alarms = state["n_alarms"]
        detector.state = np.array(state["state"], np.float64).reshape(STATE_SHAPE)
        return detector

"""The benchmark of alarms: streams that change where they should, and delays and rates of false alarms."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("river")

from benchmarks import alarms
from benchmarks.harness import Results


def test_streams_change_where_they_should():
    X, y = alarms.drifting("recurring", "plane by 90°", 0)
    first, second = (X[:, 0] > 0) == y, (X[:, 1] > 0) == y
    for start, end, (right, wrong) in (
        (0, 4000, (first, second)), (4000, 6500, (second, first)), (6500, 9000, (first, second))
    ):  # fmt: skip
        assert right[start:end].mean() > 0.93
        assert wrong[start:end].mean() < 0.6
    X, y = alarms.drifting("gradual", "plane by 90°", 0)
    share = ((X[:, 1] > 0) == y)[6000:8000].reshape(4, 500).mean(axis=1)
    assert (np.diff(share) > 0).all()


def test_delays_and_false_alarms():
    """A change of the labels is found by both detectors, and sooner by ours."""
    make, detectors = partial(alarms.drifting, "sudden", "STAGGER 0 to 1", 0), (alarms.OURS, alarms.ADWIN)
    found = alarms.measure("samknn", make, (6000,), detectors)
    ours, adwin = (found[name] for name in detectors)
    assert 0 < ours["delays"][0] < adwin["delays"][0] < 100
    assert (ours["n_rows"], ours["n_false"], ours["n_missed"]) == (6000, 0, 0)
    unchanged = alarms.measure("samknn", lambda: tuple(part[:3000] for part in make()), (), detectors)
    assert unchanged[alarms.OURS]["n_rows"] == 3000
    assert unchanged[alarms.OURS]["delays"] == []
    results = Results()
    for name in detectors:
        results.cells[alarms.PART, name, "samknn, sudden: STAGGER"] = {0: found[name]}
        results.cells[alarms.PART, name, "samknn, unchanged: STAGGER"] = {0: unchanged[name]}
    rates, delays = alarms.tables(results)
    assert rates.rows[0][0] == "samknn, unchanged"
    assert delays.rows == [("samknn, sudden", *(f"{found[name]['delays'][0]} (0 %)" for name in detectors))]
    checks = {check.check: check.status for check in alarms.checks(results)}
    assert checks["alarms: delay after sudden changes at most 1.5 times ADWIN's, samknn"] == "ok"
    assert checks["alarms: delay after sudden changes at most 1.5 times ADWIN's, samlann"] == "not measured"

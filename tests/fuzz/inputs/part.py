"""The part "inputs": hostile inputs for every public estimator and method."""

from __future__ import annotations

from pathlib import Path

import dask

from tests.fuzz.inputs.cases import make_case
from tests.fuzz.inputs.source import RandomSource
from tests.fuzz.inputs.subjects import SUBJECTS, fitted, fitted_to_table, honest_result
from tests.fuzz.outcomes import Outcome, try_case
from tests.fuzz.parts import Part

SECONDS = 60.0
MEMORY = 2**31


def prepare(folder: Path) -> Part:
    """
    Fit every estimator, so that children share them.

    Parameters
    ----------
    folder
        Not needed: nothing is written.
    """
    dask.config.set(scheduler="synchronous")  # no threads, as processes are forked
    for subject in SUBJECTS:
        honest_result(subject)
        fitted_to_table(subject)
        fitted(subject)
    return Part(run, SECONDS, memory=MEMORY)


def run(seed: int, number: int) -> Outcome:
    """
    Run a case.

    Parameters
    ----------
    seed, number
        Determine the case.
    """
    name, action = make_case(RandomSource(seed, number))
    return try_case(name, action)

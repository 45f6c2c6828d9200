"""What all benchmarks share: jobs, the store of measurements, the run, tables, checks and output."""

from benchmarks.engine.benchmark import Benchmark, Report
from benchmarks.engine.checks import Check, check, check_margins, difference, with_note
from benchmarks.engine.fingerprint import data_digest, fingerprint
from benchmarks.engine.jobs import Found, Job, Values
from benchmarks.engine.options import Options, choose, option
from benchmarks.engine.results import PartResults, Results, mean, std
from benchmarks.engine.tables import Row, Table
from benchmarks.engine.timing import PairedTimes, seconds_of, time_in_turns

__all__ = [
    "Benchmark",
    "Check",
    "Found",
    "Job",
    "Options",
    "PairedTimes",
    "PartResults",
    "Report",
    "Results",
    "Row",
    "Table",
    "Values",
    "check",
    "check_margins",
    "choose",
    "data_digest",
    "difference",
    "fingerprint",
    "mean",
    "option",
    "seconds_of",
    "std",
    "time_in_turns",
    "with_note",
]

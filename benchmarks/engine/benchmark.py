"""What a benchmark defines, and what it reports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar, Generic, TypeVar

from benchmarks.engine.checks import Check
from benchmarks.engine.jobs import Cell, Found, Job
from benchmarks.engine.options import Options, choose
from benchmarks.engine.results import Results
from benchmarks.engine.tables import Table

SomeOptions = TypeVar("SomeOptions", bound=Options)

Record = dict[str, Any]


@dataclass(frozen=True)
class Report:
    """
    What is made of the results of a run.

    Parameters
    ----------
    title
        Heading of the Markdown document.
    introduction
        How the figures were measured, in one or two sentences.
    tables
        The tables, in order.
    checks
        The checks.
    details
        Further tables for the document, and for the terminal if `show_details`.
    show_details
        Whether the terminal shows `details`.
    legend
        Label, name and description of every method, for the document.
    figure_fields
        Further fields for the JSON record of a cell.
    records
        Further JSON records.
    """

    title: str
    introduction: str
    tables: list[Table]
    checks: list[Check] = field(default_factory=list)
    details: list[Table] = field(default_factory=list)
    show_details: bool = False
    legend: list[tuple[str, str, str]] = field(default_factory=list)
    figure_fields: dict[Cell, Record] = field(default_factory=dict)
    records: list[Record] = field(default_factory=list)


class Benchmark(ABC, Generic[SomeOptions]):
    """
    A benchmark: which jobs there are, and which tables and checks are made of their results.

    A subclass is the definition, and an instance is one run of it with given options.

    Parameters
    ----------
    options
        An instance of `Options`.

    Attributes
    ----------
    name
        What the benchmark is called on the command line.
    Options
        Its options, a subclass of `engine.Options`.
    parts, slow_parts
        The parts that ``--only`` chooses from; those that ``--quick`` leaves out.
    main_scores
        By part: the score that a JSON record calls ``mean``.
    quick
        What ``--quick`` measures, for ``--help``.
    omitted
        Names of the common options that the benchmark does not have. Without ``results``, measurements are
        not stored.
    strict
        Whether the exit code is 1 if a check falls short.
    chosen
        The parts of this run.
    skipped
        What cannot be measured here, and why; filled by `jobs`.
    """

    name: ClassVar[str]
    Options: ClassVar[type[Options]] = Options
    parts: ClassVar[tuple[str, ...]]
    slow_parts: ClassVar[tuple[str, ...]] = ()
    main_scores: ClassVar[dict[str, str]]
    quick: ClassVar[str]
    omitted: ClassVar[tuple[str, ...]] = ()
    strict: ClassVar[bool] = False

    def __init__(self, options: SomeOptions) -> None:
        self.options = options
        slow, note = (self.slow_parts, " with --quick") if options.quick else ((), "")
        available = [part for part in self.parts if part not in slow]
        self.chosen = choose(options.only, available, "part", note if slow else "")
        self.skipped: dict[str, str] = {}

    @property
    def variant(self) -> str:
        """Name of the folder in which the measurements of runs with such options are stored."""
        return "quick" if self.options.quick else "full"

    @property
    def discards_stored(self) -> bool:
        """Whether stored measurements of these jobs are discarded before the run."""
        return self.options.fresh

    @abstractmethod
    def jobs(self) -> Iterable[Job]:
        """Return the jobs in the order in which they are to be run."""

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        """Return what is to be run, untimed, before these jobs, by description. An error ends the run."""
        return {}

    def describe(self, job: Job, found: Found) -> str:
        """Return the outcome of a job in a few words, for a line of progress; empty for no line."""
        return ""

    @abstractmethod
    def report(self, results: Results) -> Report:
        """Make tables and checks of the results, which may be incomplete."""

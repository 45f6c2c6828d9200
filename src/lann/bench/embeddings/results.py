"""What a run of `lann bench embeddings` has measured so far, and its means."""

from __future__ import annotations

from dataclasses import dataclass, field, fields

from lann.bench.embeddings.cost import Cost
from lann.bench.embeddings.measure import METHODS, VARIANTS, Measured, Outcome
from lann.bench.embeddings.task import Sizes
from lann.bench.explanations.results import mean, std

SCORES = tuple(score.name for score in fields(Measured))


@dataclass
class Results:
    """
    Measurements of every method.

    Parameters
    ----------
    sizes
        How much is measured.
    parts
        Which parts of the benchmark.
    outcomes
        By part: what was measured, by seed.
    costs
        What LANN's embedding costs.
    skipped
        Parts whose data are not there, and why.
    failures
        By what was measured and data set: the sentence with which it failed.
    """

    sizes: Sizes
    parts: tuple[str, ...]
    outcomes: dict[str, dict[int, Outcome]] = field(default_factory=dict)
    costs: list[Cost] = field(default_factory=list)
    skipped: dict[str, str] = field(default_factory=dict)
    failures: dict[tuple[str, str], str] = field(default_factory=dict)

    def methods(self, part: str) -> list[str]:
        """Those that were measured, in the order of the tables."""
        found = {method for outcome in self.outcomes.get(part, {}).values() for method in outcome.methods}
        return [method for method in (*METHODS, *VARIANTS) if method in found]

    def values(self, method: str, part: str, score: str = "held_out_accuracy") -> list[float]:
        """A score of every seed that was measured; empty if the method has no such score."""
        outcomes = self.outcomes.get(part, {})
        found = [outcomes[seed].methods.get(method) for seed in sorted(outcomes)]
        values = [getattr(measured, score) for measured in found if measured is not None]
        return [] if None in values else values

    def mean(self, method: str, part: str, score: str = "held_out_accuracy") -> float | None:
        """The mean of a score over the seeds."""
        return mean(self.values(method, part, score))

    def std(self, method: str, part: str, score: str = "held_out_accuracy") -> float | None:
        """The standard deviation of a score over the seeds; 0 for one seed."""
        return std(self.values(method, part, score))

    def seconds(self, part: str) -> list[float]:
        """How long the comparison of the paper's methods took, for every seed."""
        return [outcome.seconds for outcome in self.outcomes.get(part, {}).values()]

"""The baselines of `lann`, measured by the code that measures the original programs."""

from __future__ import annotations

from benchmarks.common.methods import METHODS
from benchmarks.originals.programs import run

if __name__ == "__main__":
    run({method.name: method.make for method in METHODS})

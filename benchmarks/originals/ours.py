"""The same methods of this library, measured by the very code that measures the originals."""

from __future__ import annotations

from programs import run

from lann.bench.methods import all_methods

if __name__ == "__main__":
    run({method.name: method.make for method in all_methods()})

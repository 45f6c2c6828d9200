"""`lann bench speed`: every promise about speed and memory, with its target beside it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from lann.bench.fit_speed import forest_fit, grid_search, online_pass
from lann.bench.growth import growth
from lann.bench.search_speed import exact_search, shortlist_predict
from lann.bench.startup import startup
from lann.bench.timing import Figure, Missing

Lines = Iterator[Figure | Missing]


def parts(n_jobs: int, repeats: int) -> dict[str, Callable[[], Lines]]:
    """The parts of the benchmark, by the name they can be asked for."""
    return {
        "search": lambda: exact_search(n_jobs, repeats),
        "predict": lambda: shortlist_predict(n_jobs, repeats),
        "online": lambda: online_pass(n_jobs, repeats),
        "fit": lambda: forest_fit(n_jobs, repeats),
        "grid": lambda: grid_search(min(repeats, 2)),
        "growth": lambda: growth(n_jobs),
        "startup": lambda: startup(repeats),
    }

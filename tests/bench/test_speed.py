"""The benchmarks run, on data small enough for a test, and compare like with like."""

import numpy as np
import pytest

from lann.bench import fit_speed, growth, search_speed, speed
from lann.bench.timing import Figure, Missing


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(search_speed, "SIZES", ((500, 4, 3.0, 2.0),))
    monkeypatch.setattr(search_speed, "N_QUERIES", 40)
    monkeypatch.setattr(growth, "SMALL", 200)
    monkeypatch.setattr(growth, "LARGE", 400)


def test_every_part_is_there():
    assert list(speed.parts(1, 1)) == ["search", "predict", "online", "fit", "grid", "growth", "startup"]


def test_search_has_three_opponents_a_size(small):
    lines = list(search_speed.exact_search(1, 1))
    assert len(lines) == 3
    assert [line.more_is_better for line in lines] == [True, True, False]
    assert all(line.ratio > 0 and line.data_set == "0k × 4" for line in lines)


def test_growth_measures_time_and_memory(small):
    exponent, memory = growth.growth(1)
    assert np.isfinite(exponent.ratio)
    assert 0 <= memory.ratio < 1
    assert memory.unit == " GB"


def test_both_online_passes_learn_the_same():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 5)), rng.integers(3, size=80)
    rows = rng.permutation(80)
    fast = fit_speed.fast_online_pass(X, y, rows, k=5, rate=0.05, n_jobs=1)
    plain = fit_speed.plain_online_pass(X, y, rows, k=5, rate=0.05)
    np.testing.assert_allclose(fast, plain, rtol=1e-9)
    assert np.ptp(fast) > 0.01  # it did learn


def test_a_missing_data_set_is_a_line_that_says_so(monkeypatch):
    def nowhere(*args, **kwargs):
        raise FileNotFoundError("it is nowhere")

    monkeypatch.setattr(fit_speed, "load", nowhere)
    lines = list(fit_speed.forest_fit(1, 1))
    assert len(lines) == 3
    assert all(isinstance(line, Missing) and line.reason == "it is nowhere" for line in lines)


def test_startup_knows_all_three_waits():
    from lann.bench.startup import startup

    lines = list(startup(1))
    assert [line.unit for line in lines] == [" s", " s", " s"]
    assert all(isinstance(line, Figure) for line in lines)
    assert lines[1].ratio < lines[2].ratio  # from the cache is faster than compiling

"""The parts of the speed benchmark, on data small enough for a test."""

import math

import numpy as np
import pytest

from benchmarks.common.datasets import DataSet
from benchmarks.speed import fit, growth, search, startup, update
from benchmarks.speed._internals import online_pass


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 40)
    return DataSet("toy", rng.normal(size=(120, 5)) + y[:, None], y, "")


def test_search_is_compared_with_two_libraries_and_the_product(monkeypatch):
    monkeypatch.setattr(search, "N_QUERIES", 40)
    found = search.time_search((500, 4, 3.0, 2.0), n_jobs=1, repeats=1)
    assert [(values["target"], values["more_is_better"]) for values in found.values()] == [
        (3.0, True), (2.0, True), (2.5, False)
    ]  # fmt: skip
    assert all(values["figure"] > 0 for values in found.values())


def test_updates_are_compared_with_a_model_that_is_built_again(monkeypatch):
    monkeypatch.setattr(update, "N_ROWS", 5)
    per_second, ratio = update.time_updates((100, 4, 10.0, 2.0), n_jobs=1, repeats=2).values()
    assert per_second["figure"] == pytest.approx(1000 / per_second["seconds"])
    assert (per_second["target"], per_second["unit"]) == (10.0, "/s")
    assert ratio["figure"] == pytest.approx(ratio["other_seconds"] / ratio["seconds"])


def test_a_model_that_is_built_again_learns_the_same():
    grown, rebuilt = (update._stream(200, 4, 1) for _ in range(2))
    for x, y in grown.next_rows(3):
        grown.classifier.partial_fit(x, y)
        update.add_by_rebuilding(rebuilt.classifier, x, y)
    one, other = (stream.classifier.feature_weights_ for stream in (grown, rebuilt))
    np.testing.assert_allclose(one, other, rtol=1e-3)
    np.testing.assert_array_equal(grown.classifier.model_.X, rebuilt.classifier.model_.X)


def test_both_online_passes_learn_the_same(data):
    rows = np.random.default_rng(1).permutation(len(data.X))
    fast = online_pass(data.X, data.y, rows, k=5, rate=0.05, n_jobs=1)
    plain = fit.plain_online_pass(data.X, data.y, rows, k=5, rate=0.05)
    np.testing.assert_allclose(fast, plain, rtol=1e-9)
    assert np.ptp(fast) > 0.01


def test_a_fit_is_compared_on_a_stratified_quarter(data):
    quarter = fit.training_quarter(data)
    assert np.bincount(quarter.y).tolist() == [10, 10, 10]
    assert fit.name_with_shape(quarter) == "toy 30 × 5"
    (values,) = fit.time_fit(quarter, n_jobs=1, repeats=1).values()
    assert values["figure"] == pytest.approx(values["seconds"] / values["other_seconds"])


def test_growth_is_an_exponent_and_memory_that_of_the_larger_fit(monkeypatch):
    seconds = {5_000: 1.0, 200_000: 40.0**1.1}
    monkeypatch.setattr(
        growth, "_fit_in_process", lambda n, n_jobs: {"seconds": seconds[n], "megabytes": n / 1000}
    )
    exponent, memory = growth.measure_growth(1).values()
    assert exponent["figure"] == pytest.approx(1.1)
    assert (memory["figure"], memory["unit"]) == (0.2, " GB")


def test_a_fit_in_a_process_reports_its_time_and_memory():
    measured = growth._fit_in_process(200, 1)
    assert measured["seconds"] > 0
    assert math.isfinite(measured["megabytes"])


def test_the_start_of_a_process_is_timed_with_and_without_a_cache(monkeypatch):
    caches = []

    def run(code, variables=None):
        caches.append((variables or {}).get("NUMBA_CACHE_DIR"))
        return str(8.0 if len(caches) == 1 else 0.5)

    monkeypatch.setattr(startup, "_run", run)
    found = startup.time_first_fit(repeats=1)
    assert [values["figure"] for values in found.values()] == [0.5, 8.0]
    assert len(set(caches)) == 1
    assert caches[0] is not None
    (imported,) = startup.time_import(repeats=1).values()
    assert imported["figure"] == imported["seconds"] - imported["other_seconds"]

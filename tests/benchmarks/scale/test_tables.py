import pytest

from benchmarks.engine.checks import NOT_MEASURED, OK, SHORT
from benchmarks.scale.checks import make_checks
from benchmarks.scale.extrapolation import extrapolation_table, measured_costs
from benchmarks.scale.growth import exponent
from benchmarks.scale.methods import METHODS
from benchmarks.scale.plan import COVERTYPE, DASK, PARTS, ROWS, WIDE, Plan
from benchmarks.scale.tables import covertype_table, dask_table, number, own_table, rows_tables, wide_table

PLAN = Plan(list(METHODS))


def rows_of(table):
    return {row.name: row.cells for row in table.rows}


def test_exponents():
    assert exponent({10: 3.0, 100: 30.0, 1000: 300.0}) == pytest.approx(1.0)
    assert exponent({10: 1.0, 1000: 1.0}) == pytest.approx(0.0)
    assert exponent({10: 1.0}) is None
    assert exponent({10: 0.0, 100: 1.0}) is None


@pytest.mark.parametrize(
    ("value", "text"), [(None, "–"), (1234.5, "1234"), (99.96, "100"), (12.34, "12.3"), (0.0123, "0.0123")]
)
def test_numbers_have_three_digits(value, text):
    assert number(value) == text


def test_tables_have_sizes_and_exponents(results_of, cells):
    results = results_of(cells)
    fit, predict, *_ = rows_tables(results, PLAN)
    assert fit.head == ("fit", "10k", "31.6k", "100k", "316k", "1M", "exponent")
    assert [name for name, _ in fit.sections] == ["20 features", "50 features"]
    assert rows_of(fit)["lann"] == ("10", "31.6", "100", "316", "1000", "1.00")
    assert rows_of(fit)["knn-brute"] == ("–",) * 6
    # The speed of the graph is proportional to 1/m: the time for a row grows as m.
    assert rows_of(predict)["faiss-hnsw"][-1] == "1.00"
    own = rows_of(own_table(results, PLAN))
    assert own["fit, times as long as that"] == ("0.5",) * 5
    assert own["recall of these"] == (".9900",) * 5
    assert rows_of(covertype_table(results, PLAN))["forest"][0] == ".9550"
    wide = rows_of(wide_table(results, PLAN))
    assert wide["60 × 10000, lann"][1] == "0.5"
    assert wide["usps 2324 × 256, forest"][-1] == ".900 ± .000"
    assert rows_of(dask_table(results))["2 workers"][0] == "55"


def test_checks_that_hold(results_of, cells):
    checks = make_checks(results_of(cells), list(PARTS))
    assert {one.status for one in checks} == {OK}
    assert len(checks) == 6 + 4 + 3 + 2


def test_checks_that_fall_short(results_of, cells):
    for (part, method, name), (values, *_) in cells.items():
        if part == ROWS and method == "lann":
            values["fit_seconds"] = 1e-5 * values["n_rows"] ** 1.5
            values |= {"peak_predict_gb": 7.0, "recall": 0.9, "rows_per_second": 4000.0}
        if part == COVERTYPE and method == "lann":
            values |= {"accuracy": 0.9, "fit_seconds": 100.0}
        if part == WIDE and method == "lann":
            cells[part, method, name] = [values | {"fit_seconds": 30.0, "explain_seconds": 2.0}]
        if part == DASK:
            values |= {"fit_seconds": 100.0, "same_gathered": 0.999}
    checks = make_checks(results_of(cells), list(PARTS))
    assert {one.status for one in checks} == {SHORT}


def test_checks_of_what_was_not_measured(results_of, cells):
    assert {one.status for one in make_checks(results_of({}), list(PARTS))} == {NOT_MEASURED}
    small = {cell: values for cell, values in cells.items() if not cell[2].startswith("1000000")}
    assert {one.status for one in make_checks(results_of(small), [ROWS])} == {NOT_MEASURED}
    # Behind one that was measured is behind the best of all; ahead of it is not known yet.
    covertype = {cell: values for cell, values in cells.items() if cell[1] in ("lann", "forest")}
    statuses = {one.check: one.status for one in make_checks(results_of(covertype), [COVERTYPE])}
    assert set(statuses.values()) == {NOT_MEASURED}


def test_a_billion_rows(results_of, cells):
    results = results_of(cells)
    costs = measured_costs(results, PLAN)
    assert costs.core_seconds_per_million == pytest.approx(2000)
    assert costs.fixed_core_seconds == pytest.approx(0, abs=1e-6)
    assert costs.training_hours == pytest.approx(2e6 / 3600)
    assert costs.assign_hours == pytest.approx(2e-5 * 1000**0.5 * 1e9 / 3600)
    assert (costs.model_gb, costs.data_gb) == (pytest.approx(1000), pytest.approx(200))
    assert costs.n_workers == 38  # 32 GB of each
    assert costs.efficiency == pytest.approx(100 / 55 / 2)
    core_hours = costs.training_hours + costs.assign_hours
    assert costs.hours == pytest.approx(core_hours / (38 * 16 * costs.efficiency))
    assert costs.predicted_per_second == pytest.approx(4000 / 1000**0.5 * 38 * 16)
    rows = rows_of(extrapolation_table(results, PLAN))
    assert rows["training, tile by tile"] == ("2000 core seconds per million rows", "556 core hours")
    assert rows["cells"] == ("2000", "63246")
    assert extrapolation_table(results_of({}), PLAN).rows == []
    few = {cell: values for cell, values in cells.items() if cell[2] in ("10000 × 50", "31600 × 50")}
    assert measured_costs(results_of(few), PLAN) is None

from dataclasses import replace

import pytest

from benchmarks.engine.checks import NOT_MEASURED, OK, SHORT
from benchmarks.streams.checks import make_checks
from benchmarks.streams.plan import MEMORY, REFERENCE_ERRORS, SPEED, STREAM
from benchmarks.streams.tables import means_table, reference_table, score_table, speed_table


def rows_of(table):
    return {row.name: row.cells for row in table.rows}


def statuses(results, plan):
    return {one.check.partition(",")[0]: one.status for one in make_checks(results, plan)}


def test_methods_that_ended_before_have_no_figure(made_up):
    results, plan = made_up({"arf": {"n_rows": 20_000}, "srp": {"n_rows": 10_000}, "samknn": {}})
    found = results.part(STREAM, "accuracy")
    table = score_table(found, plan, "accuracy", 20_000)
    assert table.head == ("accuracy", "arf", "srp", "samknn")
    assert rows_of(table)["sea"] == (".800", "–", ".876")
    assert rows_of(score_table(found, plan, "accuracy", 10_000))["sea"] == (".800", ".800", ".876")
    assert score_table(found, plan, "accuracy", None).head == ("accuracy", "samknn")
    means = rows_of(means_table(found, plan, 20_000))
    assert means["arf"][0] == ".800"
    assert means["srp"][0] == "–"
    assert means["samknn"][-1] == "5000 to 5000"
    assert means["samknn"][1] == "−.400"


def test_the_reference_is_beside_samknn(made_up):
    results, plan = made_up({"samknn": {}})
    rows = rows_of(reference_table(results.part(STREAM, "accuracy"), plan))
    assert set(rows) == set(REFERENCE_ERRORS)
    assert rows["weather"] == ("18159", "21.87", "21.87", "+0.00")


def test_checks_that_hold(made_up):
    cells = {
        (SPEED, "samknn", "window 500"): [{"rows_per_second": 12_000.0, "note": ""}],
        (MEMORY, "samknn", "100000 rows"): [{"megabytes": 300.0, "note": ""}],
        (MEMORY, "samknn", "1000000 rows"): [{"megabytes": 301.0, "note": ""}],
    }
    methods = {"arf": {"log_loss": 0.5}, "samknn": {}, "samlann": {"accuracy": 0.99, "log_loss": 0.2}}
    results, plan = made_up(methods, cells=cells)
    assert {one.status for one in make_checks(results, plan)} == {OK}
    assert len(make_checks(results, plan)) == 8
    assert rows_of(speed_table(results))["samknn, window 500"][0] == "12000 rows/s"


def test_checks_that_fall_short(made_up):
    cells = {
        (SPEED, "samknn", "window 500"): [{"rows_per_second": 9_000.0, "note": ""}],
        (MEMORY, "samknn", "100000 rows"): [{"megabytes": 300.0, "note": ""}],
        (MEMORY, "samknn", "1000000 rows"): [{"megabytes": 400.0, "note": ""}],
    }
    methods = {
        "arf": {"log_loss": 0.1},
        "samknn": {"accuracy": 0.9, "rows_per_second": 1500.0},
        "samlann": {"accuracy": 0.5},
    }
    results, plan = made_up(methods, cells=cells)
    assert {one.status for one in make_checks(results, plan)} == {SHORT}


@pytest.mark.parametrize("streams", [("sea",), ()])
def test_checks_of_fewer_streams_are_not_measured(made_up, streams):
    results, plan = made_up({"samknn": {}}, streams=streams)
    found = {one.status for one in make_checks(results, plan)}
    assert found == {NOT_MEASURED}


def test_checks_of_fewer_rows_say_so(made_up):
    results, plan = made_up({"samknn": {}, "samlann": {"accuracy": 0.99}})
    checks = make_checks(results, replace(plan, most_rows=20_000))
    assert checks[2].measured == "12 of 12 (at most 20000 rows of a stream)"

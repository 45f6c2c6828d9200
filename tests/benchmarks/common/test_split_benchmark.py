from benchmarks.common.methods import Method
from benchmarks.common.split_benchmark import Plan, in_order, note_scope
from benchmarks.engine import Results, check


def method(name, quick=True):
    return Method(name, name, lambda n_jobs, seed: None, "A test.", "tests", quick=quick)


def test_slow_methods_come_last_and_first_splits_first():
    methods = [method("slow", quick=False), method("one"), method("two")]
    order = [(found.name, name, number) for found, name, number in in_order(methods, 2, ["iris", "wine"])]
    quick = [(m, name, i) for i in (0, 1) for name in ("iris", "wine") for m in ("one", "two")]
    assert order == quick + [("slow", name, i) for i in (0, 1) for name in ("iris", "wine")]


def test_checks_say_how_little_was_measured():
    checks = [check("a", True, "0.9"), check("b", None)]

    def measured(seed, n_splits, **state):
        plan = Plan(seed, n_splits, [method("one")], ["iris"])
        return [one.measured for one in note_scope(checks, plan, Results(**state), 3)]

    assert measured(0, 3) == measured(0, 5) == ["0.9", ""]
    assert measured(0, 2) == ["0.9 (2 splits, seed 0)", ""]
    assert measured(1000, 3) == ["0.9 (3 splits, seed 1000)", ""]
    assert measured(0, 3, n_missing=1) == ["0.9 (3 splits, seed 0, unfinished)", ""]

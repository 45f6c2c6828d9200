from lann.bench.explanations.checks import run_checks
from lann.bench.explanations.records import records
from lann.bench.explanations.tables import all_grids, as_markdown, auc_grid


def named(explainer):
    return explainer.name


def test_every_table_has_its_rows(made_up):
    grids = {grid.title: grid for grid in all_grids(made_up(), named)}
    assert list(grids) == [
        "Agreement with the planted features",
        *(f"All scores, {n} features" for n in (8, 12, 20)),
        "Accuracy on the planted data",
        "Permuted labels",
        "Deletion on real data",
        "Cost",
    ]
    for grid in grids.values():
        for _, rows in grid.sections:
            assert all(len(row.cells) == len(grid.head) - 1 for row in rows)


def test_the_best_of_a_column_is_marked(made_up):
    (_, rows), *_ = auc_grid(made_up(), named).sections
    assert rows[0].cells[:3] == (".980 ± .000",) * 3
    assert rows[0].best == {0, 1, 2}
    assert all(not row.best for row in rows[1:])


def test_what_failed_or_is_missing_is_named(made_up):
    results = made_up()
    results.skipped["lime-knn"] = "needs lime, which is not installed."
    results.failures["dann", "planted, 8 features, seed 0"] = "I will not."
    notes = auc_grid(results, named).notes
    assert "Without lime-knn: needs lime, which is not installed." in notes
    assert "dann failed on planted, 8 features, seed 0: I will not." in notes


def test_no_table_without_figures(made_up):
    results = made_up()
    for found in (results.permuted, results.costs, results.deletions, results.models):
        found.clear()
    assert len(all_grids(results, named)) == 4


def test_the_document_and_the_records_have_every_figure(made_up):
    results = made_up()
    checks = run_checks(results)
    text, made = as_markdown(results, checks), records(results, checks)
    kinds = [record["kind"] for record in made]
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "figure": 12, "model": 6, "permuted": 1, "deletion": 13, "cost": 2, "check": 9,
    }  # fmt: skip
    for record in made:
        if record["kind"] in ("figure", "model"):
            assert f"{record['mean']:.3f}".removeprefix("0") in text
            assert {"method", "data_set", "mean", "std", "seconds"} <= record.keys()
    assert all(check.check in text for check in checks)
    assert next(r for r in made if r["kind"] == "cost")["mean"] == 1.5

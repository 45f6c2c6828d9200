from lann.bench.embeddings.checks import run_checks
from lann.bench.embeddings.records import records
from lann.bench.embeddings.tables import all_grids, as_markdown, part_grid


def test_every_table_has_its_rows(made_up):
    grids = {grid.title: grid for grid in all_grids(made_up())}
    assert list(grids) == [
        "Licorice, sticks along the axes",
        "Licorice, sticks in any direction",
        "Image segmentation",
        "Cost",
    ]
    for grid in grids.values():
        for _, rows in grid.sections:
            assert all(len(row.cells) == len(grid.head) - 1 for row in rows)
    assert "around" not in grids["Image segmentation"].head
    assert "pair error" not in grids["Licorice, sticks along the axes"].head
    # What the columns mean is said once.
    assert [sum("re-classified:" in note for note in grid.notes) for grid in grids.values()] == [0, 0, 1, 0]


def test_the_best_of_the_papers_methods_is_marked(made_up):
    grid = part_grid(made_up(held_out={"LANN max": 0.99}), "segmentation")
    (_, paper), (_, variants) = grid.sections
    held_out = grid.head.index("held out") - 1
    assert [row.label for row in paper if held_out in row.best] == ["LANN"]
    pair_error = grid.head.index("pair error") - 1
    assert "UMAP" not in [row.label for row in paper if pair_error in row.best]
    assert not any(row.best for row in variants)


def test_spread_where_there_are_several_seeds(made_up):
    results = made_up(spread=0.01)
    held_out = part_grid(results, "segmentation").sections[0][1][0].cells[1]
    assert held_out == ".900 ± .014"
    del results.outcomes["segmentation"][1]
    assert part_grid(results, "segmentation").sections[0][1][0].cells[1] == ".890"


def test_what_failed_or_is_missing_is_named(made_up):
    results = made_up()
    del results.outcomes["segmentation"]
    results.skipped["segmentation"] = "There is no file."
    results.failures["all methods", "licorice, seed 3"] = "I will not."
    last = all_grids(results)[1]
    assert "Without segmentation: There is no file." in last.notes
    assert "all methods failed on licorice, seed 3: I will not." in last.notes


def test_the_document_and_the_records_have_every_figure(made_up):
    results = made_up(spread=0.01)
    checks = run_checks(results)
    text, made = as_markdown(results, checks), records(results, checks)
    kinds = [record["kind"] for record in made]
    # Licorice has 8 figures, the other set 7; there are 11, 10 and 10 methods.
    assert {kind: kinds.count(kind) for kind in kinds} == {
        "figure": 11 * 8 + 10 * 8 + 10 * 7, "comparison": 3, "cost": 6, "check": 13
    }  # fmt: skip
    for record in made:
        if record["kind"] == "figure" and record["figure"] != "seconds":
            assert f"{record['mean']:.3f}".removeprefix("0") in text
        if record["kind"] != "check":
            assert {"method", "data_set", "figure", "mean", "std", "seconds"} <= record.keys()
    assert all(check.check in text for check in checks)

from benchmarks.embeddings.tables import make_tables, part_table


def test_every_table_has_its_rows(made_up):
    results, _ = made_up()
    tables = {table.title: table for table in make_tables(results)}
    assert list(tables) == [
        "Licorice, cylinders along the axes",
        "Licorice, cylinders in any direction",
        "Image segmentation",
        "Cost",
    ]
    for table in tables.values():
        assert all(len(row.cells) == len(table.head) - 1 for row in table.rows)
    assert "around" not in tables["Image segmentation"].head
    assert "pair error" not in tables["Licorice, cylinders along the axes"].head
    assert len(tables["Licorice, cylinders along the axes"].rows) == 11
    assert tables["Cost"].rows[0].cells == ("prefit", "3.60", "3.00", "1.200 ± 0.100", "5")
    # The columns are explained once.
    explained = [sum("leave-one-out:" in note for note in table.notes) for table in tables.values()]
    assert explained == [0, 0, 1, 0]


def test_the_best_of_the_compared_methods_is_highlighted(made_up):
    results, _ = made_up(held_out={"LANN max": 0.99})
    table = part_table(results, "segmentation")
    (_, compared), (_, variants) = table.sections
    held_out, pair_error = (table.head.index(name) - 1 for name in ("held-out", "pair error"))
    assert [row.name for row in compared if held_out in row.best] == ["LANN"]
    assert "UMAP" not in [row.name for row in compared if pair_error in row.best]
    assert not any(row.best for row in variants)


def test_several_seeds_have_a_deviation(made_up):
    results, _ = made_up(spread=0.01)
    assert part_table(results, "segmentation").rows[0].cells[1] == ".900 ± .014"
    for repeats in results.cells.values():
        repeats.pop(1, None)
    assert part_table(results, "segmentation").rows[0].cells[1] == ".890"

from benchmarks.explanations.summary import PLANTED
from benchmarks.explanations.tables import auc_table, make_tables


def test_every_table_has_its_rows(made_up):
    tables = {table.title: table for table in make_tables(*made_up())}
    assert list(tables) == [
        "Agreement with the planted features",
        *(f"All scores, {n} features" for n in (8, 12, 20)),
        "Accuracy on the planted data",
        "Further kinds of planted data",
        "Planted with categories",
        "A category and a number that decide together",
        "Permuted labels",
        "Deletion on real data",
        "Supports beside their definition",
        "Rows with an answer",
        "Deletion and insertion curves",
        "Curves compared with KernelSHAP",
        "Cost",
        "The first call",
        "A saved model in a new process",
    ]
    for table in tables.values():
        assert all(len(row.cells) == len(table.head) - 1 for row in table.rows)
    assert tables["Planted with categories"].rows[0].cells == (".980 ± .000", ".970 ± .000", "50", "0.1")
    cities = tables["A category and a number that decide together"]
    assert cities.rows[0].cells[:3] == (".500 ± .000", ".500 ± .000", ".480 ± .000")
    assert tables["Permuted labels"].rows[0].cells == (".510 ± .141", "2")
    assert tables["Deletion on real data"].rows[0].cells == (".200", "–", "–", "–", ".100")
    assert tables["Cost"].rows[0].cells[:3] == ("0.500", "0.750", "1.50")
    assert tables["Cost"].rows[0].cells[3:5] == ("2.000", "4.00")
    assert tables["Further kinds of planted data"].rows[0].cells == (".990 ± .000",) * 6 + ("50",)
    faithful = tables["Supports beside their definition"].rows[0]
    assert faithful.cells == (".990 ± .010", ".900", "0.10 %", "40", "0.010", ".500", "20")
    answered = tables["Rows with an answer"].rows[0]
    assert answered.cells == ("90.0 %", "100.0 %", "95.0 %", "100.0 %", "60.0 %", "100")
    curves = tables["Deletion and insertion curves"].rows[0]
    assert curves.cells == (".200 ± .000", ".800 ± .000", ".200 ± .000", ".800 ± .000", "4", "0.1")
    lead = tables["Curves compared with KernelSHAP"].rows[0]
    assert lead.cells[:2] == ("−0.100 ± 0.000", "+0.100 ± 0.000")
    assert lead.cells[-1] == "2000"
    assert tables["The first call"].rows[0].cells == ("2.00", "1.80", "0.90 ± 0.10")
    assert tables["A saved model in a new process"].rows[0].cells[-2:] == ("1.500", "4.0")
    assert tables["Accuracy on the planted data"].rows[0].cells[0] == ".950 ± .000"


def test_the_best_of_a_column_is_highlighted(made_up):
    rows = auc_table(*made_up()).rows
    assert rows[0].cells == (".990 ± .000",) * 3 + ("50", "0.1")
    assert rows[0].best == {0, 1, 2}
    assert all(not row.best for row in rows[1:])


def test_there_is_no_table_without_figures(made_up):
    made = made_up()
    for cell in [cell for cell in made[0].cells if cell[0] != PLANTED]:
        del made[0].cells[cell]
    assert len(make_tables(*made)) == 4

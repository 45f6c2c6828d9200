from benchmarks.engine import Report, Row, Table, check
from benchmarks.engine.markdown import as_markdown

REPORT = Report(
    "Toy",
    "3 splits.",
    [
        Table(
            "Accuracy",
            ("method", "x", "y"),
            [
                ("one", [Row("a", (".9", ".8"), frozenset({1}), label="Method A")]),
                ("", [Row("b", (), text="failed: 1 | 2")]),
            ],
            ("A note.",),
        )
    ],
    [check("a: enough", True, "0.9")],
    details=[Table("wine", ("", "x"), [("", [Row("a", (".7",))])])],
    legend=[("Method A", "a", "Defaults.")],
)


def test_the_document_has_all_of_a_report():
    text = as_markdown(REPORT, "python -m benchmarks toy")
    assert text.startswith("# Toy\n\n3 splits. Written by `python -m benchmarks toy`.\n\n## Accuracy\n\n")
    assert "| *one* |  |  |\n| Method A | .9 | **.8** |\n| b | failed: 1 \\| 2 |  |\n\nA note." in text
    assert "| ok | a: enough | 0.9 |" in text
    assert "| Method A | `a` | Defaults. |" in text
    assert "### wine\n\n|  | x |" in text


def test_every_row_has_every_column():
    for block in as_markdown(REPORT, "command").split("\n\n"):
        lines = [line.replace("\\|", "") for line in block.splitlines() if line.startswith("|")]
        assert len({line.count("|") for line in lines}) <= 1

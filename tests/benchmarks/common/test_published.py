from benchmarks.common.published import COLUMNS, PUBLISHED, published_accuracy
from lann.datasets import PAPER_SETS


def test_the_published_table_has_the_public_sets_of_the_paper():
    assert list(PUBLISHED) == [name for name in PAPER_SETS if name != "adrenal"]
    means = {c: sum(row.accuracies[c] for row in PUBLISHED.values()) / len(PUBLISHED) for c in COLUMNS}
    assert {column: round(mean, 3) for column, mean in means.items()} == {
        "kNN": 0.895, "LMNN": 0.910, "LGMLVQ": 0.870, "LANN": 0.926,
    }  # fmt: skip


def test_figures_that_were_not_published_are_none():
    assert published_accuracy("wine", "LGMLVQ") == 0.63
    assert published_accuracy("wine", None) is None
    assert published_accuracy("adrenal", "LANN") is None

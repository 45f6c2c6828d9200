import pytest

from benchmarks.scale.page import MARK, with_tables


def test_tables_replace_those_after_the_mark():
    page = f"# Scale\n\nText.\n\n{MARK}\nOld tables.\n"
    document = "# Scale\n\n2 threads.\n\n## Fit\n"
    once = with_tables(page, document)
    assert once == f"# Scale\n\nText.\n\n{MARK}\n2 threads.\n\n## Fit\n"
    assert with_tables(once, document) == once


def test_a_page_without_the_mark_is_an_error():
    with pytest.raises(ValueError, match="does not have the line"):
        with_tables("# Scale\n", "# Scale\n\nx\n")

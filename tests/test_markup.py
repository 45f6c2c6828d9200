from lann._markup import Html, _environment, page


def macro(name, *arguments, **options):
    return str(_environment("lann.report").globals[name](*arguments, **options))


def test_text_is_escaped_and_markup_is_not():
    assert macro("class_label", "<b>", 0) == '<span class="class-label c0">&lt;b&gt;</span>'
    assert "&lt;b&gt;" in macro("header_cell", "<b>")
    assert "<i>x</i>" in macro("header_cell", Html("<i>x</i>"))


def test_a_missing_value_differs_from_the_text_missing():
    assert macro("value_cell", "missing", number=False) != macro("value_cell", None, number=False)
    assert macro("value_cell", float("nan"), number=True) == macro("value_cell", None, number=True)


def test_lengths_of_bars():
    assert "width:25.0%" in macro("bar", 0.1, 0.4)
    assert "width" not in macro("bar", 0.0, 0.0)  # nothing could be seen
    assert "width" not in macro("bar", 0.001, 0.4)
    assert 'style="left:50%;width:50.0%"' in macro("signed_bar_cell", 0.2, 0.2, "")
    assert 'style="right:50%;width:25.0%"' in macro("signed_bar_cell", -0.1, 0.2, "")
    assert "width" not in macro("signed_bar_cell", 0.001, 0.2, "")


def test_classes_have_different_marks():
    assert len({macro("class_label", "x", index) for index in range(70)}) == 70
    assert 'class="bar signed c3"' in macro("signed_bar_cell", 0.2, 0.2, "", 13)


def test_a_page_has_only_its_own_script_and_style_sheets(parse_page):
    def policy(text):
        tags = parse_page(text).tags
        return next(a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy")

    plain = policy(page("title", Html("<p>x</p>"), styles=["p { color: red; }"]))
    assert "script-src" not in plain
    allowed = plain.partition("style-src-elem ")[2].split("; ")[0]
    assert [source.startswith("'sha256-") for source in allowed.split()] == [True, True]
    assert "script-src 'sha256-" in policy(page("title", script="1"))

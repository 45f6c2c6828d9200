from lann._markup import Html, bar, class_label, element, page, signed_bar_cell, step_bar_cell, value_cell


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<b>", Html("<i>x</i>"), title='"&') == '<p title="&#34;&amp;">&lt;b&gt;<i>x</i></p>'


def test_attributes():
    assert element("p", hidden=True, open=False, id=None, aria_label="x") == '<p hidden aria-label="x"></p>'
    assert element("input", class_="y") == '<input class="y">'


def test_a_missing_value_differs_from_the_text_missing():
    assert value_cell("missing", number=False) != value_cell(None, number=False)
    assert value_cell(float("nan"), number=True) == value_cell(None, number=True)


def test_lengths_of_bars():
    assert "width:25.0%" in bar(0.1, 0.4)
    assert "width:0.0%" in bar(0.0, 0.0)
    assert 'style="left:50%;width:50.0%"' in signed_bar_cell(0.2, 0.2, "")
    assert 'style="right:50%;width:25.0%"' in signed_bar_cell(-0.1, 0.2, "")
    assert 'style="left:20.00%;width:30.00%"' in step_bar_cell(0.5, 0.2, (0.0, 1.0), "")
    assert 'style="left:25.00%;width:25.00%"' in step_bar_cell(0.0, 0.5, (-0.5, 1.5), "")


def test_classes_have_different_marks():
    marks = {class_label("x", index) for index in range(70)}
    assert len(marks) == 70
    assert 'class="bar signed c3"' in signed_bar_cell(0.2, 0.2, "", 13)


def test_a_page_runs_only_its_own_script(parse_page):
    def policy(text):
        tags = parse_page(text).tags
        return next(a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy")

    assert "script-src" not in policy(page("title", element("p", "x")))
    assert "script-src 'sha256-" in policy(page("title", element("p", "x"), script="1"))


def test_a_page_has_only_its_own_style_sheets(parse_page):
    tags = parse_page(page("title", element("p", "x"), styles=["p { color: red; }"])).tags
    policy = next(a["content"] for _, a in tags if a.get("http-equiv") == "Content-Security-Policy")
    allowed = policy.partition("style-src-elem ")[2].split("; ")[0]
    assert [source.startswith("'sha256-") for source in allowed.split()] == [True, True]

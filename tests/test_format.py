import copy
import pickle

from lann._support.format import ShownNumber, counted, percent, printable, signed_percent, value_text


def test_a_share_that_is_not_0_or_1_is_not_shown_as_0_or_100_percent():
    assert [percent(share) for share in (0.0, 0.004, 0.5, 0.999, 1.0)] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert [percent(share, 1) for share in (0.0001, 0.0312, 0.9999)] == ["<0.1%", "3.1%", ">99.9%"]


def test_a_negative_share_that_is_rounded_to_0_has_no_sign():
    assert percent(-0.0001, 1) == "0.0%"
    assert signed_percent(-0.0001) == "0.0%"
    assert [signed_percent(share) for share in (0.2, -0.2)] == ["+20.0%", "−20.0%"]


def test_counts():
    assert [counted(n, "class", "classes") for n in (0, 1, 2000)] == ["0 classes", "1 class", "2,000 classes"]


def test_shown_numbers_are_numbers_with_a_text():
    number = ShownNumber(0.35, "35 %")
    assert number + 1 == 1.35
    for same in (number, copy.copy(number), pickle.loads(pickle.dumps(number))):
        assert (same, value_text(same)) == (0.35, "35 %")


def test_characters_that_change_a_terminal_are_escaped():
    # A color, a tab, two kinds of line breaks, NUL, DEL, C1, reversed text, a line separator, and no width.
    hostile = "\x1b[31m\t\r\n\x00\x7f\x9b\u202e\u2066\u2028\u200b"
    shown = r"\x1b[31m\t\r\n\x00\x7f\x9b\u202e\u2066\u2028\u200b"
    assert printable(hostile) == shown
    assert printable(printable(hostile)) == shown
    # Spaces, accents, other scripts with their joiners, emoji of several characters, and backslashes stay.
    plain = "naïve e\u0301 1\xa0000\u202f€ नक्\u200dष می\u200cخواهم 👩\u200d🔬 C:\\new [kg]"
    assert printable(plain) == plain

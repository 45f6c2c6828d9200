"""Names of features and classes as they are drawn: shortened, with units, without math mode."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import takewhile
from numbers import Real
from textwrap import wrap
from typing import Any

from lann._format import is_missing, printable, value_text

# Font sizes in points.
TEXT, SMALL, TINY = 9.0, 8.0, 6.5
# The mean width of a character, relative to the font size.
CHARACTER = 0.56


def shorten(name: Any, length: int = 30) -> str:
    """Return the name, with its middle replaced by an ellipsis if it is longer than `length`.

    >>> shorten("mean fractal dimension of the nucleus", 20)
    'mean fract…e nucleus'
    """
    text = str(name)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def shorten_unique(names: Iterable[Any], length: int = 30) -> list[str]:
    """Shorten all names so that different ones stay different.

    Names that would be equal are shortened around the part in which they differ. If that part is too long,
    they are kept longer, until they differ.

    >>> shorten_unique(["mean depth of layer 1, in winter", "mean depth of layer 2, in winter"], 20)
    ['mean dep…layer 1,…', 'mean dep…layer 2,…']
    >>> shorten_unique(["ash", "a very long name with a tail"], 12)
    ['ash', 'a very… tail']
    """
    texts = [str(name) for name in names]
    distinct = dict.fromkeys(texts)
    shortened = {text: shorten(text, length) for text in distinct}
    for group in _equal(shortened):
        shortened |= _shorten_around_difference(group, length)
    lengths = dict.fromkeys(distinct, length)
    while ambiguous := [text for group in _equal(shortened) for text in group]:
        for text in ambiguous:
            lengths[text] += 1
            shortened[text] = shorten(text, lengths[text])
    return [shortened[text] for text in texts]


def _equal(shortened: dict[str, str]) -> list[list[str]]:
    """Return the groups of different texts that are shortened to the same text."""
    groups: dict[str, list[str]] = {}
    for text, short in shortened.items():
        groups.setdefault(short, []).append(text)
    return [group for group in groups.values() if len(group) > 1]


def _shorten_around_difference(texts: list[str], length: int) -> dict[str, str]:
    """Return texts shortened so that the part in which they differ stays, where it is short enough."""
    start = _common_length(texts)
    end = min(_common_length([text[::-1] for text in texts]), min(map(len, texts)) - start)
    # Whole words differ.
    start = texts[0].rfind(" ", 0, start) + 1
    tail = texts[0][len(texts[0]) - end :]
    end = len(tail[tail.find(" ") :]) if " " in tail else 0
    shortened = {}
    for text in texts:
        middle, after = text[start : len(text) - end], "…" if end else ""
        space = length - len(middle) - len(after) - 1
        # Half of the space is for the beginning of the name, the rest for the words before the difference.
        head = max(space, 0) // 2
        if start <= space + 1:
            shortened[text] = f"{text[:start]}{middle}{after}"
        elif head >= 4:
            before = text[head:start][-(space - head) :].lstrip()
            # Without a part of a word, if there are whole words.
            words = before.partition(" ")[2]
            shortened[text] = f"{text[:head].rstrip()}…{words or before}{middle}{after}"
        else:
            shortened[text] = shorten(text, length)
    return shortened


def _common_length(texts: list[str]) -> int:
    """Return the number of characters with which all texts start."""
    return sum(1 for _ in takewhile(lambda letters: len(set(letters)) == 1, zip(*texts, strict=False)))


def wrap_text(text: str, width: float, fontsize: float = TEXT, *, max_lines: int | None = None) -> str:
    """Wrap a text into lines that are at most about `width` inches wide; lines are kept.

    A text with more lines than allowed is shortened.

    >>> wrap_text("mean concave points", 1.0)
    'mean concave\\npoints'
    """
    n_characters = max(int(72 * width / (CHARACTER * fontsize)), 4)
    if max_lines is not None:
        length = max_lines * n_characters
        while len(wrap(shorten(text, length), n_characters)) > max_lines:
            length -= 1
        text = shorten(text, length)
    return "\n".join("\n".join(wrap(line, n_characters)) for line in text.splitlines())


def text_width(texts: Iterable[str], fontsize: float) -> float:
    """Return about the width of the longest text, in inches."""
    return max((len(text) for text in texts), default=0) * CHARACTER * fontsize / 72


def escape_math(text: Any) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of parsing a formula.

    Control characters are escaped, too, since fonts do not have them; line breaks stay. Apply it to every
    text that contains a user's names, as the last step before drawing.

    >>> print(escape_math("price [$]"))
    price [\$]
    """
    from matplotlib import rcParams

    drawn = "\n".join(map(printable, str(text).split("\n")))
    # Without math mode and TeX the backslash would be drawn.
    parses_math = rcParams["text.parse_math"] or rcParams["text.usetex"]
    return drawn.replace("$", r"\$") if parses_math else drawn


def split_unit(name: Any) -> tuple[str, str]:
    """Split a name into the name itself and the unit in parentheses at its end.

    >>> split_unit("sepal length (cm)"), split_unit("ash")
    (('sepal length', 'cm'), ('ash', ''))
    """
    found = re.fullmatch(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]", str(name))
    return (found[1], found[2]) if found else (str(name), "")


def short_names(names: Iterable[Any], length: int = 30) -> list[str]:
    """Shorten the names of features so that different ones stay different, but not their units.

    >>> short_names(["length of the longest petal (cm)", "ash"], 16)
    ['length o…t petal (cm)', 'ash']
    """
    parts = [split_unit(name) for name in names]
    shortened = shorten_unique([name for name, _ in parts], length)
    return [f"{name} ({unit})" if unit else name for name, (_, unit) in zip(shortened, parts, strict=True)]


def format_value(name: Any, value: Any, length: int = 30) -> str:
    """Format a feature and its value, a number or text, with the unit.

    >>> format_value("sepal length (cm)", 5.1), format_value("ash", 12345.678), format_value("city", "Ulm")
    ('sepal length = 5.1 cm', 'ash = 12346', 'city = Ulm')
    """
    bare_name, unit = split_unit(name)
    text = f"{shorten(bare_name, length)} = {short_value(value, length)}"
    return f"{text} {unit}" if unit and _is_number(value) else text


def short_value(value: Any, length: int = 14) -> str:
    """Format a value, a number or text, in few characters.

    >>> short_value(5.1), short_value(12345.678), short_value("Ulm"), short_value(None)
    ('5.1', '12346', 'Ulm', 'missing')
    """
    if not _is_number(value):
        return shorten(value_text(value), length)
    return f"{value:.0f}" if 1000 <= abs(float(value)) < 1e6 else f"{float(value):.3g}"


def _is_number(value: Any) -> bool:
    return not is_missing(value) and not isinstance(value, bool) and isinstance(value, Real)

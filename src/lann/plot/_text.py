"""Names of features and classes as they are drawn: shortened, with units, without math mode."""

from __future__ import annotations

import re
from collections.abc import Iterable
from numbers import Real
from typing import Any

from lann._format import is_missing, value_text

# Font sizes in points.
TEXT, SMALL, TINY = 9.0, 8.0, 6.5


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
    """Shorten all names; those that would be equal are kept longer, until they differ.

    >>> shorten_unique(["mean depth of layer 1, in winter", "mean depth of layer 2, in winter"], 16)
    ['mean depth o…1, in winter', 'mean depth o…2, in winter']
    """
    texts = [str(name) for name in names]
    lengths = dict.fromkeys(texts, length)
    while True:
        shortened: dict[str, list[str]] = {}
        for text, own_length in lengths.items():
            shortened.setdefault(shorten(text, own_length), []).append(text)
        ambiguous = [text for group in shortened.values() if len(group) > 1 for text in group]
        if not ambiguous:
            return [shorten(text, lengths[text]) for text in texts]
        for text in ambiguous:
            lengths[text] += 1


def escape_math(text: Any) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of parsing a formula.

    Apply it to every text that contains a user's names, as the last step before drawing.

    >>> print(escape_math("price [$]"))
    price [\$]
    """
    from matplotlib import rcParams

    # Without math mode and TeX the backslash would be drawn.
    parses_math = rcParams["text.parse_math"] or rcParams["text.usetex"]
    return str(text).replace("$", r"\$") if parses_math else str(text)


def split_unit(name: Any) -> tuple[str, str]:
    """Split a name into the name itself and the unit in parentheses at its end.

    >>> split_unit("sepal length (cm)"), split_unit("ash")
    (('sepal length', 'cm'), ('ash', ''))
    """
    found = re.fullmatch(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]", str(name))
    return (found[1], found[2]) if found else (str(name), "")


def format_value(name: Any, value: Any, length: int = 30) -> str:
    """Format a feature and its value, a number or text, with the unit.

    >>> format_value("sepal length (cm)", 5.1), format_value("ash", 12345.678), format_value("city", "Ulm")
    ('sepal length = 5.1 cm', 'ash = 12346', 'city = Ulm')
    """
    bare_name, unit = split_unit(name)
    if is_missing(value) or isinstance(value, bool) or not isinstance(value, Real):
        return f"{shorten(bare_name, length)} = {shorten(value_text(value), length)}"
    number = f"{value:.0f}" if 1000 <= abs(float(value)) < 1e6 else f"{float(value):.3g}"
    return f"{shorten(bare_name, length)} = {number}{' ' + unit if unit else ''}"

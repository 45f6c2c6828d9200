"""Numbers, values and classes as users see them: the same wherever they are shown."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

# Control characters (C0 with line breaks, DEL, C1), marks that change the direction of text, separators of
# lines and paragraphs, characters without a width (but not the joiners of scripts and emoji, U+200C and
# U+200D), tags, and halves of surrogate pairs, which the names of files can have.
_UNPRINTABLE = re.compile(
    r"[\x00-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    r"\ud800-\udfff\U000e0000-\U000e007f]"
)


def printable(text: str) -> str:
    r"""Return a text for a terminal: characters that are not shown, but change what is, are escaped.

    Those are control characters (line breaks, too), such as the beginning of a sequence that colors the
    terminal or moves its cursor, marks that change the direction of text, and characters without a width. A
    backslash stays as it is.

    >>> print(printable("\x1b[31mred, naïve"), printable("two\nlines"))
    \x1b[31mred, naïve two\nlines
    """
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


def percent(share: float, digits: int = 0) -> str:
    """Return a share as a percentage; one above 0 is not rounded to "0%", one below 1 not to "100%".

    >>> percent(0.004), percent(0.5), percent(0.9999, 1)
    ('<1%', '50%', '>99.9%')
    """
    least = 10.0**-digits
    text = f"{share:.{digits}%}"
    if share > 0 and text == f"{0:.{digits}%}":
        return f"<{least:.{digits}f}%"
    if share < 1 - 1e-9 and text == f"{1:.{digits}%}":
        return f">{100 - least:.{digits}f}%"
    return text if float(text[:-1]) else f"{0:.{digits}%}"  # not "-0%"


def signed_percent(share: float, digits: int = 1) -> str:
    """Return a share with its sign, which one that is rounded to 0 does not have.

    >>> signed_percent(0.25), signed_percent(-0.25), signed_percent(-0.0001), signed_percent(0.25, 0)
    ('+25.0%', '−25.0%', '0.0%', '+25%')
    """
    text = f"{abs(share):.{digits}%}"
    if not float(text[:-1]):
        return text
    return ("+" if share > 0 else "−") + text


def size_text(n_bytes: float) -> str:
    """Return a size for users.

    >>> size_text(2_000_000_000), size_text(3_456_000)
    ('2.0 GB', '3 MB')
    """
    return f"{n_bytes / 1e9:,.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:,.0f} MB"


class ShownNumber(float):
    """A number of a table with the text that shows it, as its column writes it.

    Parameters
    ----------
    value : float
    text : str
    """

    def __new__(cls, value: float, text: str) -> ShownNumber:
        number = super().__new__(cls, value)
        number.text = text
        return number

    text: str

    def __reduce__(self) -> tuple[Any, ...]:  # for pickle and copy
        return ShownNumber, (float(self), self.text)


def value_text(value: Any) -> str:
    """Return a value of a table as text, numbers with up to six digits.

    >>> value_text(1234.5678), value_text("red"), value_text(None), value_text(ShownNumber(0.5, "0.50 €"))
    ('1234.57', 'red', 'missing', '0.50 €')
    """
    if is_missing(value):
        return "missing"
    if isinstance(value, ShownNumber):
        return value.text
    return f"{value + 0.0:.6g}" if isinstance(value, float) else str(value)  # not "-0"


def is_missing(value: Any) -> bool:
    """Return whether a value of a table is None or NaN."""
    return value is None or value != value


def counted(count: int, noun: str, plural: str | None = None) -> str:
    """Return a number of things.

    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"1 {noun}" if count == 1 else f"{count:,} {plural or noun + 's'}"


NO_FIGURE = "–"


def figure(value: float, *, signed: bool = False) -> str:
    """Return a score with three decimals; one that is not defined is a dash.

    >>> figure(0.95432), figure(float("nan")), figure(-0.01), figure(0.01, signed=True)
    ('0.954', '–', '−0.010', '+0.010')
    """
    if value != value:
        return NO_FIGURE
    text = f"{abs(value):.3f}"
    if not float(text):
        return text
    return ("−" if value < 0 else "+" if signed else "") + text


def p_value_text(p_value: float) -> str:
    """Return a p-value as text.

    >>> p_value_text(0.00001), p_value_text(0.034), p_value_text(1.0)
    ('<0.001', '0.034', '1')
    """
    if p_value < 0.001:
        return "<0.001"
    return f"{p_value:.3f}" if p_value < 0.9995 else "1"


def class_text(label: Any) -> str:
    """Return a label as the name of a class.

    >>> class_text("benign"), class_text(3), class_text("3")
    ('benign', 'class 3', 'class 3')
    """
    is_name = isinstance(label, str) and not label.removeprefix("-").isdecimal()
    return label if is_name else f"class {label}"


def to_plain(value: Any) -> Any:
    """Return a value, with everything in it, in the types of JSON.

    NaN, infinities and missing dates are None, arrays and sets are lists, named tuples and dataclasses are
    dictionaries, and what JSON does not have, such as dates and paths, is text.

    >>> import numpy as np
    >>> to_plain({1: np.array([0.5, np.nan]), "when": np.datetime64("2026-05-31")})
    {'1': [0.5, None], 'when': '2026-05-31'}
    """
    if isinstance(value, Mapping):
        return {str(key): to_plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return to_plain(value._asdict())
    if is_dataclass(value):
        return to_plain(vars(value))
    if isinstance(value, list | tuple | set | frozenset) or bool(getattr(value, "ndim", 0)):
        return [to_plain(item) for item in value]
    if hasattr(value, "item") and value.dtype.kind not in "mM":  # scalars of NumPy
        value = value.item()
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return None if value != value else str(value)  # NaT is not equal to itself


# The colors of classes. Every pair differs with normal vision, protanopia and deuteranopia, and each has a
# contrast of 3 to white.
# The first classes get the most different colors.
CLASS_COLORS = (
    "#0072B2",  # blue
    "#C66200",  # orange
    "#019150",  # green
    "#DB718A",  # pink
    "#621605",  # brown
    "#442387",  # purple
    "#3594EF",  # sky blue
    "#98981A",  # olive
    "#AC2732",  # red
    "#6C627D",  # gray
)
N_COLORS = len(CLASS_COLORS)


def class_color(class_index: int) -> str:
    """Return the color of a class, which depends on its index only; after ten classes the colors repeat.

    >>> class_color(0), class_color(10)
    ('#0072B2', '#0072B2')
    """
    return CLASS_COLORS[class_index % N_COLORS]

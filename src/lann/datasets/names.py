"""The names of the paper's data sets, and how the spellings people use map to them."""

from __future__ import annotations

import difflib
import re

PAPER_SETS: tuple[str, ...] = (
    "adrenal",
    "artificial-classification",
    "breast-cancer",
    "digits",
    "gamma-telescope",
    "image-segmentation",
    "ionosphere",
    "iris",
    "letter-recognition",
    "outdoor-objects",
    "pen-digits",
    "robot-navigation",
    "usps",
    "wine",
)
"""The 14 data sets of the paper, in its (alphabetical) order."""

# Keys carry no separators: that alone covers "pen digits", "pen_digits" and "PenDigits".
_ALIASES = {
    "artificial": "artificial-classification",
    "breast": "breast-cancer",
    "gamma": "gamma-telescope",
    "letter": "letter-recognition",
    "letters": "letter-recognition",
    "magic": "gamma-telescope",
    "magictelescope": "gamma-telescope",
    "outdoor": "outdoor-objects",
    "robot": "robot-navigation",
    "segment": "image-segmentation",
    "segmentation": "image-segmentation",
    "wallrobotnavigation": "robot-navigation",
}


def names() -> list[str]:
    """
    List the data sets that :func:`lann.datasets.load` knows.

    Returns
    -------
    names
        The canonical names, in the paper's (alphabetical) order.

    Examples
    --------
    >>> from lann.datasets import names
    >>> len(names())
    14
    >>> names()[7:9]
    ['iris', 'letter-recognition']
    """
    return list(PAPER_SETS)


def canonical_name(name: str) -> str:
    """
    Find the canonical name behind a spelling or a short form.

    Parameters
    ----------
    name
        A canonical name or an alias; case, spaces, underscores and hyphens do not matter.

    Returns
    -------
    name
        One of :data:`PAPER_SETS`.

    Raises
    ------
    ValueError
        If the name is unknown. The message lists the known names and suggests the closest.

    Examples
    --------
    >>> from lann.datasets.names import canonical_name
    >>> canonical_name("Pen Digits"), canonical_name("letter")
    ('pen-digits', 'letter-recognition')
    """
    known = {_without_separators(paper_set): paper_set for paper_set in PAPER_SETS} | _ALIASES
    key = _without_separators(name) if isinstance(name, str) else ""
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key, known, n=1)
    suggestion = f" Did you mean {known[close[0]]!r}?" if close else ""
    raise ValueError(f"Unknown data set {name!r}.{suggestion} Known are: {', '.join(PAPER_SETS)}.")


def _without_separators(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())

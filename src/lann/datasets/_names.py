"""The names of the data sets of the paper, and their aliases."""

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
"""The names of the 14 data sets of the paper, in alphabetical order."""

# Without separators, so that a key matches "pen digits", "pen_digits" and "PenDigits".
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
    Return the names of the data sets that :func:`load` can load.

    Returns
    -------
    names : list of str
        The canonical names, in alphabetical order.

    See Also
    --------
    load : Load a data set by its name.

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
    Return the canonical name of a data set.

    Parameters
    ----------
    name : str
        A canonical name or an alias. Case, spaces, underscores and hyphens are ignored.

    Returns
    -------
    canonical_name : str
        One of ``PAPER_SETS``.

    Raises
    ------
    ValueError
        If the name is unknown. The message lists the known names and suggests the closest one.

    See Also
    --------
    names : Return all canonical names.

    Examples
    --------
    >>> from lann.datasets import canonical_name
    >>> canonical_name("Pen Digits"), canonical_name("letter")
    ('pen-digits', 'letter-recognition')
    """
    known = {_without_separators(paper_set): paper_set for paper_set in PAPER_SETS} | _ALIASES
    key = _without_separators(name) if isinstance(name, str) else ""
    if key in known:
        return known[key]
    close = difflib.get_close_matches(key, known, n=1)
    suggestion = f" Did you mean {known[close[0]]!r}?" if close else ""
    raise ValueError(f"Unknown data set {name!r}.{suggestion} The known ones are: {', '.join(PAPER_SETS)}.")


def _without_separators(name: str) -> str:
    return re.sub(r"[\s_-]+", "", name.casefold())

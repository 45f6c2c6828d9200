"""matplotlib, an optional dependency that is imported on first use."""

from __future__ import annotations

from types import ModuleType


def import_pyplot() -> ModuleType:
    """Return the module matplotlib.pyplot; raise ImportError if matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Displays need matplotlib: pip install 'lann[plot]'.") from error
    return plt


def check_matplotlib_support() -> None:
    """Raise ImportError if matplotlib is not installed.

    Raises
    ------
    ImportError
        If matplotlib is not installed. The message says how to install it.

    Examples
    --------
    >>> from lann.plot import check_matplotlib_support
    >>> check_matplotlib_support()
    """
    import_pyplot()

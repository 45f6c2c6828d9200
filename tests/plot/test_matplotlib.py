import sys

import pytest

from lann.plot import check_matplotlib_support


def test_error_without_matplotlib_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'lann\[plot\]'"):
        check_matplotlib_support()

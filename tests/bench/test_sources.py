import importlib
import sys

import pytest

from lann.bench import sources
from lann.bench.sources import code_digest


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package `toy` on disk: `toy.top` imports `toy.base`; `toy.other` stands by itself."""

    def write(**texts):
        for name, text in texts.items():
            (tmp_path / "toy" / f"{name}.py").write_text(text)
        code_digest.cache_clear()
        importlib.invalidate_caches()
        return code_digest("toy.top")

    (tmp_path / "toy").mkdir()
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sources, "ROOT", "toy")
    write_all = {
        "__init__": "",
        "top": "def f():\n    from toy.base import g\n    return g()\n",
        "base": "def g():\n    return 1\n",
        "other": "x = 1\n",
    }
    first = write(**write_all)
    yield first, write
    code_digest.cache_clear()
    for name in [name for name in sys.modules if name.split(".")[0] == "toy"]:
        del sys.modules[name]


def test_code_that_is_imported_counts(package):
    first, write = package
    assert first
    assert write(base="def g():\n    return 2\n") != first


def test_words_and_other_modules_do_not(package):
    first, write = package
    assert write(base='def g():\n    """Says one."""\n    # why\n    return (1)\n') == first
    assert write(other="x = 2\n") == first


def test_the_classifier_depends_on_its_kernels_and_others_on_none():
    assert len(code_digest("lann.classifier")) == 64
    assert code_digest("lann.classifier") != code_digest("lann.vote")
    assert code_digest("sklearn.svm._classes") == ""

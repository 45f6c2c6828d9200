import numpy as np
import pytest

from benchmarks.common import datasets
from benchmarks.common.datasets import QUICK_SETS, choose_sets, load_set, load_sets
from lann.datasets import PAPER_SETS


def test_sets_are_chosen_by_any_spelling_in_the_order_of_the_paper():
    assert choose_sets(["wine", "Letter", "wine"]) == ["letter-recognition", "wine"]
    assert choose_sets() == list(PAPER_SETS)
    assert choose_sets(quick=True) == list(QUICK_SETS)
    with pytest.raises(ValueError, match="Unknown data set 'roses'"):
        choose_sets(["roses"])


def test_sets_that_cannot_be_loaded_are_skipped_with_a_reason(monkeypatch):
    def load(name, return_X_y):
        if name == "adrenal":
            raise FileNotFoundError("It is not public, so it cannot be downloaded. Searched:\n  - /home/me")
        return np.arange(8.0).reshape(4, 2), np.array(["no", "yes", "no", "yes"])

    monkeypatch.setattr(datasets, "load", load)
    (wine,), skipped = load_sets(["adrenal", "wine"])
    assert skipped == {"adrenal": "It is not public, so it cannot be downloaded."}
    assert wine.y.tolist() == [0, 1, 0, 1]
    assert wine.X.dtype == np.float64
    with pytest.raises(ValueError, match="It is not public"):
        load_set("adrenal")

"""The run itself: what it measures, what it does not measure again, and what it survives."""

import numpy as np
import pytest

from lann.bench import paper
from lann.bench.time_left import TimeLeft
from lann.datasets import PAPER_SETS


def finish(run):
    return list(run.steps())


def test_every_method_is_measured_on_every_set_and_split(run_on, counting, method_of):
    first, second = method_of(counting, "first"), method_of(counting, "second", n_neighbors=3)
    run = run_on(first, second, names=("toy", "copy"))
    steps = finish(run)
    assert counting.fits == 12
    assert all(len(run.results.splits[m, d]) == 3 for m in ("first", "second") for d in ("toy", "copy"))
    assert run.results.is_complete
    measured = [step for step in steps if "split" in step.what]
    assert [step.done for step in measured] == list(range(12))
    assert {step.total for step in steps} == {12}
    assert "second on copy, split 3 of 3" in {step.what for step in steps}
    assert measured[-1].seconds_left > 0


def test_all_have_their_first_split_before_any_has_its_second(run_on, counting, method_of):
    steps = finish(run_on(method_of(counting, "a"), method_of(counting, "b"), names=("x", "y")))
    splits = [step.what.split("split ")[1][0] for step in steps if "split" in step.what]
    assert splits == sorted(splits)


def test_a_second_run_measures_nothing_and_says_the_same(run_on, counting, method_of):
    first = run_on(method_of(counting))
    finish(first)
    again = run_on(method_of(counting))
    assert finish(again) == []
    assert counting.fits == 3
    assert again.results.splits == first.results.splits


def test_more_splits_add_to_those_that_are_kept(run_on, counting, method_of):
    finish(run_on(method_of(counting), n_splits=3))
    more = run_on(method_of(counting), n_splits=5)
    finish(more)
    assert counting.fits == 5
    assert sorted(more.results.splits["counting", "toy"]) == [0, 1, 2, 3, 4]
    fewer = run_on(method_of(counting), n_splits=2)
    assert sorted(fewer.results.splits["counting", "toy"]) == [0, 1]


@pytest.mark.parametrize("change", ["parameter", "data", "seed"])
def test_what_has_changed_is_measured_again(run_on, counting, method_of, blobs, change):
    finish(run_on(method_of(counting)))
    if change == "parameter":
        changed = run_on(method_of(counting, n_neighbors=4))
    elif change == "data":
        changed = run_on(method_of(counting), X=blobs[0] + 1)
    else:
        changed = run_on(method_of(counting), seed=1000)
    finish(changed)
    assert counting.fits == 6


def test_an_interrupted_run_keeps_what_is_done(run_on, counting, method_of):
    counting.raises = KeyboardInterrupt()
    run = run_on(method_of(counting))
    with pytest.raises(KeyboardInterrupt):
        finish(run)
    assert list(run.results.splits["counting", "toy"]) == [0]
    assert not run.results.is_complete
    counting.raises, counting.fits = None, 0
    again = run_on(method_of(counting))
    finish(again)
    assert counting.fits == 2
    assert again.results.is_complete


def test_a_failure_is_a_sentence_and_the_others_go_on(run_on, counting, method_of):
    failing = type("Failing", (counting,), {"raises": ValueError("It has no\n  heart."), "fits": 0})
    run = run_on(method_of(failing, "failing"), method_of(counting))
    finish(run)
    assert run.results.failures == {("failing", "toy"): "It has no heart."}
    assert failing.fits == 2  # nothing is gained by the third split
    assert run.results.mean("failing", "toy") is None  # a mean over what went well would mislead
    assert len(run.results.cell("counting", "toy")) == 3
    assert run.results.is_complete


def test_a_failure_is_tried_again(run_on, counting, method_of):
    counting.raises = RuntimeError()
    run = run_on(method_of(counting))
    finish(run)
    assert run.results.failures == {("counting", "toy"): "RuntimeError"}
    counting.raises, counting.fits = None, 0
    again = run_on(method_of(counting))
    finish(again)
    assert counting.fits == 2
    assert again.results.failures == {}


def test_sets_are_chosen_by_any_spelling_in_the_papers_order():
    assert paper.choose_sets(["wine", "Letter", "wine"]) == ["letter-recognition", "wine"]
    assert paper.choose_sets(None) == list(PAPER_SETS)
    assert paper.choose_sets(None, quick=True) == list(paper.QUICK_SETS)
    with pytest.raises(ValueError, match="Unknown data set 'roses'"):
        paper.choose_sets(["roses"])


def test_sets_that_cannot_be_loaded_are_skipped_with_a_reason(monkeypatch):
    def load(name, return_X_y):
        if name == "adrenal":
            raise FileNotFoundError("It is not public, so it cannot be downloaded. Searched:\n  - /home/me")
        return np.arange(8.0).reshape(4, 2), np.array(["no", "yes", "no", "yes"])

    monkeypatch.setattr(paper, "load", load)
    (wine,), skipped = paper.load_sets(["adrenal", "wine"])
    assert skipped == {"adrenal": "It is not public, so it cannot be downloaded."}
    assert wine.y.tolist() == [0, 1, 0, 1]
    assert wine.X.dtype == np.float64


def test_time_left_is_judged_by_the_same_cell_or_by_the_largest_set(measurement):
    left = TimeLeft({"small": 10, "middle": 20, "large": 100})
    assert left.of([]) == 0
    left.note(("a", "small"), measurement(fit_seconds=5.0, predict_seconds=0.0))
    left.note(("a", "large"), measurement(fit_seconds=8.0, predict_seconds=1.0))
    left.note(("a", "large"), measurement(fit_seconds=18.0, predict_seconds=1.0))
    assert left.of([("a", "large")] * 2) == 30
    assert left.of([("a", "middle")]) == 3  # 15 s for 100 numbers
    assert left.of([("a", "small"), ("b", "small")]) is None

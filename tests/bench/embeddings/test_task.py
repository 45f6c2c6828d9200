import os

import numpy as np
import pytest

from lann.bench.embeddings import task as tasks
from lann.bench.embeddings.task import FOLIAGE, WINDOW, make_task, missing
from lann.datasets import load, make_licorice


@pytest.mark.parametrize("part", ["licorice", "licorice-any"])
def test_licorice_in_two_parts_with_its_sticks(tiny, part):
    task = make_task(part, 3, tiny, n_jobs=1)
    X, y, sticks = make_licorice(100, axis_aligned=part == "licorice", random_state=3, return_axes=True)
    assert (len(task.X), len(task.held_out)) == (70, 30)
    assert task.y.mean() == task.answers.mean() == 0.5
    place = {tuple(point): i for i, point in enumerate(X)}
    for points, labels, cylinders in (
        (task.X, task.y, task.cylinders),
        (task.held_out, task.answers, task.held_out_cylinders),
    ):
        rows = [place[tuple(point)] for point in points]
        np.testing.assert_array_equal(labels, y[rows])
        np.testing.assert_array_equal(cylinders, sticks.membership[rows])
    assert task.classifier.metric == "full"
    assert list(task.others) == (["LANN diagonal"] if part == "licorice" else [])
    np.testing.assert_array_equal(make_task(part, 3, tiny, n_jobs=1).X, task.X)


def test_data_that_are_not_there_are_named(tiny, monkeypatch):
    monkeypatch.setattr(tasks, "load_sets", lambda names: ([], {names[0]: "There is no file."}))
    assert missing("segmentation") == "There is no file."
    assert missing("licorice") is None
    with pytest.raises(ValueError, match="There is no file"):
        make_task("segmentation", 0, tiny, n_jobs=1)


@pytest.mark.data
@pytest.mark.skipif("LANN_DATA" not in os.environ, reason="LANN_DATA is not set")
def test_image_segmentation_in_two_parts(tiny):
    names = load("image-segmentation").target_names
    assert (names[FOLIAGE], names[WINDOW]) == ("FOLIAGE", "WINDOW")
    task = make_task("segmentation", 0, tiny, n_jobs=1)
    assert (len(task.X), len(task.held_out)) == (84, 36)
    assert task.cylinders is None

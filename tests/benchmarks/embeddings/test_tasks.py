import os

import numpy as np
import pytest

from benchmarks.common import datasets
from benchmarks.embeddings.tasks import FOLIAGE, WINDOW, make_task, missing
from lann.datasets import load, make_licorice


@pytest.mark.parametrize("part", ["licorice", "licorice-any"])
def test_licorice_in_two_parts_with_its_cylinders(tiny, part):
    task = make_task(part, 3, tiny, n_jobs=1)
    X, y, axes = make_licorice(100, axis_aligned=part == "licorice", random_state=3, return_axes=True)
    assert (len(task.X), len(task.X_test)) == (70, 30)
    assert task.y.mean() == task.y_test.mean() == 0.5
    positions = {tuple(row): i for i, row in enumerate(X)}
    for part_X, labels, cylinders in (
        (task.X, task.y, task.cylinders),
        (task.X_test, task.y_test, task.cylinders_test),
    ):
        rows = [positions[tuple(row)] for row in part_X]
        np.testing.assert_array_equal(labels, y[rows])
        np.testing.assert_array_equal(cylinders, axes.membership[rows])
    assert task.classifier.metric == "full"
    assert list(task.others) == (["LANN diagonal"] if part == "licorice" else [])
    np.testing.assert_array_equal(make_task(part, 3, tiny, n_jobs=1).X, task.X)


def test_data_that_cannot_be_loaded_are_named(tiny, monkeypatch):
    def fail(name, return_X_y):
        raise FileNotFoundError("There is no file.")

    monkeypatch.setattr(datasets, "load", fail)
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
    assert (len(task.X), len(task.X_test)) == (84, 36)
    assert task.cylinders is None

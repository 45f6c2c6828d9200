import numpy as np

from lann._support.rows import stratified_rows


def test_rows_are_drawn_in_proportion_to_the_classes():
    labels = np.array([0] * 60 + [1] * 30 + [2] * 10)[np.random.default_rng(0).permutation(100)]
    rows = stratified_rows(labels, 20)
    assert len(np.unique(rows)) == 20
    assert np.bincount(labels[rows]).tolist() == [12, 6, 2]
    assert stratified_rows(labels, 100).tolist() == list(range(100))
    assert len(stratified_rows(labels, 0)) == 1

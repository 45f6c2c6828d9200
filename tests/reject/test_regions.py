import numpy as np
import pytest

from lann.reject import RejectOption
from lann.reject._regions import FEWEST_ROWS, MOST_REGIONS, find_regions


@pytest.fixture(params=["quick", "linear"])
def fitted(request, cancer):
    X, y, _, _ = cancer
    estimator = request.getfixturevalue(request.param)
    return RejectOption(estimator, by="local", random_state=0, cv=2).fit(X, y)


def test_every_region_has_enough_rows(fitted):
    counts = np.bincount(fitted.held_out_.groups)
    assert 2 <= len(counts) <= MOST_REGIONS
    assert counts.min() >= FEWEST_ROWS
    assert len(fitted.thresholds_) == len(fitted.regions_.landmarks) == len(counts)


def test_a_region_has_the_rows_that_are_nearest_to_its_landmark(fitted, cancer):
    X = cancer[2]
    reader, landmarks = fitted.reader_, fitted.regions_.landmarks
    if reader.model is not None:
        nearest = reader.model.search_among(landmarks).kneighbors(X, 1)[0][:, 0]
    else:
        rows, axes = reader.plain.rows[landmarks], reader.plain.transform(X)
        nearest = np.array([((rows - query) ** 2).sum(axis=1).argmin() for query in axes])
    np.testing.assert_array_equal(fitted.regions_.of(reader, X), nearest)


def test_copies_are_one_region(quick):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], 40, axis=0)
    fitted = RejectOption(quick, cv=2, random_state=0).fit(X, np.repeat([0, 1], 40))
    regions, groups = find_regions(fitted.reader_, X, np.random.default_rng(0))
    assert len(regions.landmarks) == groups.max() + 1 <= 2
    assert len(set(groups[:40])) == len(set(groups[40:])) == 1


def test_few_rows_are_one_region(quick):
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = RejectOption(quick, by="local", cv=2, random_state=0).fit(X, (X[:, 0] > 0).astype(int))
    assert len(fitted.thresholds_) == 1

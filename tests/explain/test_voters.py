"""What is asked of training points, whatever the estimator."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from lann import LANNClassifier
from lann.baselines._maps import GroupMaps
from lann.baselines._neighbor_vote import NeighborVote
from lann.explain import influence, nearest_unlike, prototypical_points, suspicious_points
from lann.explain.voters import voters_of


class TwoScales(NeighborVote):
    """A baseline: even and odd classes measure with different weights."""

    def __init__(self, n_neighbors=5, *, weights="uniform", n_jobs=None, verbose=0):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _measure(self, points, labels):
        maps = np.stack([np.eye(points.shape[1]), np.diag(np.linspace(0.5, 2, points.shape[1]))])
        return GroupMaps(points, labels % 2, maps)


@pytest.fixture(params=[TwoScales, LANNClassifier])
def fitted(request, blobs):
    extra = {"weights": "distance"}
    if request.param is LANNClassifier:
        extra |= {"random_state": 0, "max_iter": 3, "n_candidates": None}
    return request.param(**extra).fit(*blobs)


def test_the_nearest_of_allowed_classes(fitted, blobs):
    X, y = blobs
    voters = voters_of(fitted)
    queries = X[:7] + 0.3
    allowed = np.random.default_rng(0).random((7, 3)) > 0.4
    allowed[0], allowed[1] = False, True
    indices, distances = voters.nearest_of(queries, allowed, 40)
    everyone, lengths = voters.nearest(queries, len(X))
    for row in range(7):
        wanted = [j for j in everyone[row] if allowed[row, y[j]]][:40]
        assert indices[row, : len(wanted)].tolist() == wanted
        assert (indices[row, len(wanted) :] == -1).all()
        assert np.isinf(distances[row, len(wanted) :]).all()
        of = dict(zip(everyone[row].tolist(), lengths[row].tolist(), strict=True))
        np.testing.assert_allclose(distances[row, : len(wanted)], [of[j] for j in wanted], rtol=1e-9)


def test_every_account_works_for_both(fitted, blobs):
    X = blobs[0]
    contrast = nearest_unlike(fitted, X)
    assert (contrast.labels != fitted.predict(X)).all()
    np.testing.assert_allclose(contrast.contributions.sum(axis=1), contrast.distances, rtol=1e-9)
    assert prototypical_points(fitted).votes.sum() == pytest.approx(len(X))
    assert suspicious_points(fitted).scores.shape == (len(X),)
    found = influence(fitted, None, X)
    np.testing.assert_array_equal(found.predictions, fitted.predict(X))


def test_those_without_voting_points_are_refused(blobs):
    forest = RandomForestClassifier(3, random_state=0).fit(*blobs)
    with pytest.raises(ValueError, match="RandomForestClassifier has no training points that vote"):
        voters_of(forest)


def test_importing_lann_does_not_wait_for_numba(in_new_process):
    program = "import json, sys, lann, lann.explain; print(json.dumps('numba' in sys.modules))"
    assert in_new_process(program) is False
    program = """
    import json
    from lann.explain import influence, counterfactuals
    from lann.explain import influence as again
    print(json.dumps([callable(influence), callable(again), callable(counterfactuals)]))
    """
    assert in_new_process(program) == [True, True, True]

from typing import ClassVar

import pytest

from lann.bench.embeddings.cost import cost_of, measure_costs, timed_sets
from lann.bench.timing import Duel
from lann.embedding import LANNEmbedding


def test_the_median_of_the_turns_counts():
    cost = cost_of("made", "prefit", Duel([2.0, 9.0, 3.0], [2.0, 3.0, 2.0]))
    assert (cost.ratio, cost.seconds, cost.umap_seconds, cost.n_turns) == (1.5, 3.0, 2.0, 3)
    assert cost.std == pytest.approx(1.0408, abs=1e-4)
    assert cost_of("made", "prefit", Duel([2.0], [1.0])).std == 0


class OtherSide:
    """Stands for umap.UMAP, of which the search and the placing take a minute to compile."""

    made: ClassVar[list] = []

    def __init__(self, **parameters):
        self.calls = []
        self.made.append((parameters, self.calls))

    def fit(self, X):
        self.calls.append(("fit", len(X)))
        return self

    def transform(self, X):
        self.calls.append(("transform", len(X)))
        return X[:, :2]


def test_both_sides_on_made_data(tiny, monkeypatch):
    umap = pytest.importorskip("umap")
    monkeypatch.setattr(OtherSide, "made", [])
    with monkeypatch.context() as patched:
        patched.setattr("lann.bench.embeddings.cost.LANNEmbedding", EmbeddedBefore)
        patched.setattr(umap, "UMAP", OtherSide)
        found = measure_costs("made, 80 × 8", tiny)
    assert [cost.what for cost in found] == ["prefit", "with fit", "placing"]
    assert all(cost.n_turns == 1 and cost.seconds > 0 < cost.umap_seconds for cost in found)
    [(parameters, calls)] = OtherSide.made
    assert parameters == {"n_neighbors": 15, "force_approximation_algorithm": True, "random_state": 0}
    # Once in each turn, and the placing is warmed up.
    assert calls == [("fit", 80), ("fit", 80), ("transform", 80), ("transform", 80)]


class EmbeddedBefore(LANNEmbedding):
    """Without a layout, which would be UMAP's."""

    def _lay_out(self, model, symmetry, seed):
        self._model, self.embedding_, self._scale = model, model.levels.points[:, :2], 1.0


def test_which_sets_are_timed_how_often(tiny):
    assert timed_sets(tiny) == {"image-segmentation": 2, "made, 60 × 8": 2, "made, 80 × 8": 1}

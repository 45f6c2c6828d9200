import pytest

from lann.bench.embeddings.cost import cost_of, measure_costs, timed_sets
from lann.bench.timing import Duel


def test_the_median_of_the_turns_counts():
    cost = cost_of("made", "prefit", Duel([2.0, 9.0, 3.0], [2.0, 3.0, 2.0]))
    assert (cost.ratio, cost.seconds, cost.umap_seconds, cost.n_turns) == (1.5, 3.0, 2.0, 3)
    assert cost.std == pytest.approx(1.0408, abs=1e-4)
    assert cost_of("made", "prefit", Duel([2.0], [1.0])).std == 0


def test_both_ways_on_made_data(tiny, monkeypatch):
    umap = pytest.importorskip("umap")
    asked = []

    def without_search(force_approximation_algorithm=False, **parameters):
        # Its search takes half a minute to compile.
        asked.append(force_approximation_algorithm)
        return found_umap(**parameters)

    found_umap = umap.UMAP
    monkeypatch.setattr(umap, "UMAP", without_search)
    assert timed_sets(tiny) == {"image-segmentation": 2, "made, 60 × 8": 2, "made, 80 × 8": 1}
    found = measure_costs("made, 80 × 8", tiny)
    assert [cost.what for cost in found] == ["prefit", "with fit", "placing"]
    assert asked.count(True) == 1
    assert all(cost.n_turns == 1 and cost.seconds > 0 < cost.umap_seconds for cost in found)

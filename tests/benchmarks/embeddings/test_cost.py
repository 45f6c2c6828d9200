import pytest
from sklearn.frozen import FrozenEstimator

from benchmarks.embeddings import cost
from benchmarks.embeddings.cost import measure_costs, summarize, timed_sets
from benchmarks.engine import PairedTimes


def test_the_medians_of_the_turns_count():
    values = summarize(PairedTimes([2.0, 9.0, 3.0], [2.0, 3.0, 2.0]))
    assert (values["ratio"], values["seconds"], values["umap_seconds"], values["n_turns"]) == (
        1.5,
        3.0,
        2.0,
        3,
    )
    assert values["ratio_std"] == pytest.approx(1.0408, abs=1e-4)


def test_both_sides_run_in_turns_on_generated_data(tiny, monkeypatch):
    """Neither side is real here: UMAP takes a minute to compile."""
    umap = pytest.importorskip("umap")
    calls = []

    def fake(side):
        class Fake:
            def __init__(self, *arguments, **parameters):
                frozen = arguments and isinstance(arguments[0], FrozenEstimator)
                self.side = "prefit" if frozen else side
                calls.append((self.side, parameters))

            def fit(self, X, y=None):
                calls.append((self.side, "fit", len(X)))
                return self

            def transform(self, X):
                calls.append((self.side, "transform", len(X)))

        return Fake

    monkeypatch.setattr(umap, "UMAP", fake("umap"))
    monkeypatch.setattr(cost, "LANNEmbedding", fake("with fit"))
    found = measure_costs("generated, 80 × 8", tiny)
    assert list(found) == ["prefit", "with fit", "transform"]
    assert all(values["n_turns"] == 1 for values in found.values())
    common = {"n_neighbors": 15, "random_state": 0}
    assert calls == [
        ("umap", {"force_approximation_algorithm": True, **common}),
        ("prefit", common), ("prefit", "fit", 80), ("umap", "fit", 80),
        ("with fit", common), ("with fit", "fit", 80), ("umap", "fit", 80),
        ("prefit", common), ("prefit", "fit", 80),
        # The transform has a warm-up.
        *[("prefit", "transform", 80), ("umap", "transform", 80)] * 2,
    ]  # fmt: skip


def test_large_data_are_timed_once(tiny):
    assert timed_sets(tiny) == {"image-segmentation": 2, "generated, 60 × 8": 2, "generated, 80 × 8": 1}

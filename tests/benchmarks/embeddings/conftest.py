"""Small sizes, and made-up results."""

import pytest

from benchmarks.embeddings.measure import COMPARISON, METHODS, VARIANTS
from benchmarks.embeddings.tasks import COST, FULL, PARTS, SEGMENTATION, Sizes


@pytest.fixture
def tiny():
    return Sizes(
        n_seeds=1, n_licorice=100, n_segmentation=120, timed_rows=60, timed_features=8, timed_turns=2,
        large_rows=80,
    )  # fmt: skip


@pytest.fixture
def made_up(results_of):
    """Results that pass every check, unless changed, with their sizes; held-out accuracies by method."""

    def make(
        held_out=None, accuracy=0.98, least_around=0.93, errors=(0.02, 0.09), seconds=20.0, ratio=1.2,
        with_fit=1.2, sizes=FULL, spread=0.0,
    ):  # fmt: skip
        accuracies = dict.fromkeys((*METHODS, *VARIANTS), 0.9) | {"LANN": 0.96} | (held_out or {})
        cells = {}
        for part in PARTS[:3]:
            is_real = part == SEGMENTATION
            cells[part, COMPARISON, part] = [{"seconds": seconds}] * 2
            for name, value in accuracies.items():
                if part == "licorice" or name != "LANN diagonal":
                    values = {
                        "accuracy": accuracy, "trustworthiness": 0.9, "continuity": 0.8,
                        "neighborhood_preservation": 0.5, "around": None if is_real else 0.95,
                        "least_around": None if is_real else least_around,
                        "pair_error": errors[name == "UMAP"] if is_real else None, "seconds": 1.5,
                    }  # fmt: skip
                    cells[part, name, part] = [
                        {**values, "held_out_accuracy": value + spread * sign} for sign in (-1, 1)
                    ]
        for data_set in ("image-segmentation", "generated, 10000 × 20", "generated, 50000 × 20"):
            for method, times in (("prefit", ratio), ("with fit", with_fit)):
                cost = {"seconds": 3.0 * times, "umap_seconds": 3.0, "ratio": times, "ratio_std": 0.1}
                cells[COST, method, data_set] = [{**cost, "n_turns": 5}]
        return results_of(cells), sizes

    return make

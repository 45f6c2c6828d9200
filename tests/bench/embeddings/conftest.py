"""Small sizes, and made-up results."""

import pytest

from lann.bench.embeddings.cost import Cost
from lann.bench.embeddings.measure import METHODS, VARIANTS, Measured, Outcome
from lann.bench.embeddings.results import Results
from lann.bench.embeddings.task import FULL, PARTS, SEGMENTATION, Sizes


@pytest.fixture
def tiny():
    return Sizes(
        n_seeds=1, n_licorice=100, n_segmentation=120, timed_rows=60, timed_features=8, timed_turns=2,
        large_rows=80,
    )  # fmt: skip


@pytest.fixture
def made_up():
    """Results that pass every check; held-out accuracies by method, and whatever else is to be changed."""

    def make(
        held_out=None, accuracy=0.98, least_around=0.93, errors=(0.02, 0.09), seconds=20.0, ratio=1.2,
        with_fit=1.2, sizes=FULL, spread=0.0,
    ):  # fmt: skip
        right = dict.fromkeys((*METHODS, *VARIANTS), 0.9) | {"LANN": 0.96} | (held_out or {})
        results = Results(sizes, PARTS)
        for part in PARTS[:3]:
            real = part == SEGMENTATION
            results.outcomes[part] = {
                seed: Outcome(
                    {
                        name: Measured(
                            accuracy, value + spread * (2 * seed - 1), 0.9, 0.8, 0.5,
                            None if real else 0.95, None if real else least_around,
                            errors[name == "UMAP"] if real else None, 1.5,
                        )
                        for name, value in right.items()
                        if part == "licorice" or name != "LANN diagonal"
                    },
                    seconds,
                )
                for seed in range(2)
            }  # fmt: skip
        for data_set in ("image-segmentation", "made, 10000 × 20", "made, 50000 × 20"):
            for what, times in (("prefit", ratio), ("with fit", with_fit)):
                results.costs.append(Cost(data_set, what, 3.0 * times, 3.0, times, 0.1, 5))
        return results

    return make

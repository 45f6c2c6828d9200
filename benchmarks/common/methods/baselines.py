"""The baselines of `lann.baselines`, with their defaults."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common.methods.method import Method
from lann import baselines

MAPS = "learned maps"
PROTOTYPES = "learning vector quantization"
LOCAL = "local metrics"


def _make(name: str, n_jobs: int, seed: int) -> Any:
    estimator = getattr(baselines, name)(n_jobs=n_jobs)
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=seed)
    return estimator


METHODS = [
    Method(
        {"MultiMetricLMNN": "lmnn-per-class"}.get(name, name.lower()),
        label,
        partial(_make, name),
        f"{description} Defaults.",
        group,
        published=published,
    )
    for name, label, description, group, published in (
        ("LMNN", "LMNN", "One map with a large margin, then five neighbors.", MAPS, "LMNN"),
        ("MultiMetricLMNN", "LMNN, a map per class", "A map for every class, learned together.", MAPS, None),
        ("GRLVQ", "GRLVQ", "A prototype per class, one weight per feature.", PROTOTYPES, None),
        ("GMLVQ", "GMLVQ", "A prototype per class, one matrix.", PROTOTYPES, None),
        ("LGRLVQ", "LGRLVQ", "A prototype per class, each with its weights.", PROTOTYPES, None),
        ("LGMLVQ", "LGMLVQ", "A prototype per class, each with its matrix.", PROTOTYPES, "LGMLVQ"),
        ("PLML", "PLML", "Metrics interpolated between anchor points, then five neighbors.", LOCAL, None),
        ("GLML", "GLML", "Metrics from Gaussians of the classes, then five neighbors.", LOCAL, None),
        ("DANN", "DANN", "Metrics from the scatter around the query, then five neighbors.", LOCAL, None),
    )
]

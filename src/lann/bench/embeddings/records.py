"""The figures of `lann bench embeddings` for programs."""

from __future__ import annotations

from lann.bench.checks import Check
from lann.bench.embeddings.results import SCORES, Results
from lann.bench.explanations.results import mean, std
from lann.bench.records import Record


def records(results: Results, checks: list[Check]) -> list[Record]:
    """
    One list; the `kind` of a record says what it is.

    ``figure``: a score of a method on a data set, named by `figure`; `seconds` are those of the method.
    ``comparison``: all methods of the paper on a data set; `mean` are its seconds. ``cost``: LANN's embedding
    beside UMAP; `mean` is the ratio. ``failure`` and ``skipped``: what could not be measured. ``check``.
    """
    return [
        *_figures(results),
        *(
            {
                "kind": "comparison", "method": "all", "data_set": part, "figure": "seconds",
                "mean": mean(seconds), "std": std(seconds), "seconds": mean(seconds), "n_seeds": len(seconds),
            }
            for part in results.outcomes
            if (seconds := results.seconds(part))
        ),
        *(
            {
                "kind": "cost", "method": f"LANN {cost.what}", "figure": "ratio to UMAP", "mean": cost.ratio,
                **cost.as_dict(),
            }
            for cost in results.costs
        ),
        *(
            {"kind": "failure", "method": what, "data_set": name, "reason": reason}
            for (what, name), reason in results.failures.items()
        ),
        *({"kind": "skipped", "what": what, "reason": reason} for what, reason in results.skipped.items()),
        *({"kind": "check", "n_seeds": results.sizes.n_seeds, **check.as_dict()} for check in checks),
    ]  # fmt: skip


def _figures(results: Results) -> list[Record]:
    return [
        {
            "kind": "figure",
            "method": method,
            "data_set": part,
            "figure": score,
            "mean": results.mean(method, part, score),
            "std": results.std(method, part, score),
            "seconds": results.mean(method, part, "seconds"),
            "n_seeds": len(values),
        }
        for part in results.outcomes
        for method in results.methods(part)
        for score in SCORES
        if (values := results.values(method, part, score))
    ]

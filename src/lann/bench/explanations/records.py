"""The figures of `lann bench explanations` for programs."""

from __future__ import annotations

from lann.bench.checks import Check
from lann.bench.explanations.results import SCORES, Results, mean, std
from lann.bench.explanations.task import data_name
from lann.bench.records import Record


def records(results: Results, checks: list[Check]) -> list[Record]:
    """
    One list; the `kind` of a record says what it is.

    ``figure``: a method on the planted data; `mean` is its AUC. ``model``: a model's accuracy there.
    ``permuted``: the AUC with permuted labels. ``deletion``: a method on a real data set; `mean` is the
    change of the probability without the features named, `random` without some by lot. ``cost``: what LANN's
    explanations cost; `mean` is the ratio of explaining to predicting. ``failure`` and ``skipped``: what
    could not be measured. ``check``.
    """
    return [
        *_figures(results),
        *(_model(results, model, n_features) for model, n_features in results.models),
        *(
            {"kind": "permuted", "method": method, "mean": mean(aucs), "std": std(aucs), "n_fits": len(aucs)}
            for method, aucs in results.permuted.items()
        ),
        *(_deletion(results, method, name) for method, name in results.deletions),
        *(
            {
                "kind": "cost", "method": "lann", "data_set": data_name(n_features),
                "mean": cost.ratio, "std": cost.ratio_std, "seconds": cost.explain, **cost.as_dict(),
            }
            for n_features, cost in results.costs.items()
        ),
        *(
            {"kind": "failure", "method": method, "data_set": name, "reason": reason}
            for (method, name), reason in results.failures.items()
        ),
        *({"kind": "skipped", "what": what, "reason": reason} for what, reason in results.skipped.items()),
        *({"kind": "check", "n_seeds": results.sizes.n_seeds, **check.as_dict()} for check in checks),
    ]  # fmt: skip


def _figures(results: Results) -> list[Record]:
    return [
        {
            "kind": "figure",
            "method": explainer.name,
            "model": explainer.model,
            "data_set": data_name(n_features),
            "n_features": n_features,
            "mean": results.mean(explainer.name, n_features),
            "std": results.std(explainer.name, n_features),
            "seconds": results.mean(explainer.name, n_features, "seconds"),
            "n_seeds": len(results.agreements[explainer.name, n_features]),
            "n_rows": results.n_rows(explainer.name, n_features),
            "lead_of_lann": results.lead("lann", explainer.name, n_features),
            "scores": {
                score: {
                    "mean": results.mean(explainer.name, n_features, score),
                    "std": results.std(explainer.name, n_features, score),
                }
                for score in SCORES
            },
        }
        for explainer in results.explainers
        for n_features in results.sizes.n_features
        if (explainer.name, n_features) in results.agreements
    ]


def _model(results: Results, model: str, n_features: int) -> Record:
    fits = list(results.models[model, n_features].values())
    return {
        "kind": "model",
        "method": model,
        "data_set": data_name(n_features),
        "n_features": n_features,
        "mean": mean(fit.accuracy for fit in fits),
        "std": std(fit.accuracy for fit in fits),
        "seconds": mean(fit.seconds for fit in fits),
        "n_seeds": len(fits),
    }


def _deletion(results: Results, method: str, data_set: str) -> Record:
    splits = list(results.deletions[method, data_set].values())
    return {
        "kind": "deletion",
        "method": method,
        "data_set": data_set,
        "mean": mean(split.named for split in splits),
        "std": std(split.named for split in splits),
        "random": mean(split.by_lot for split in splits),
        "random_std": std(split.by_lot for split in splits),
        "n_splits": len(splits),
    }

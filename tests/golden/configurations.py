"""Configurations whose results two trees of the repository are compared on, through the public API only.

Each function returns a dictionary of arrays and texts. Data sets are generated or embedded in scikit-learn.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_classification
from sklearn.preprocessing import StandardScaler

Results = dict[str, Any]


def mixed_table(n_rows: int = 300, seed: int = 0) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a table with numbers, gaps, categories, booleans and dates, and its labels."""
    rng = np.random.default_rng(seed)
    size = rng.lognormal(size=n_rows)
    color = rng.choice(["red", "green", "blue"], size=n_rows)
    table = pd.DataFrame(
        {
            "size": np.where(rng.random(n_rows) < 0.1, np.nan, size),
            "weight": rng.normal(size=n_rows).round(2),
            "color": pd.Series(color).where(rng.random(n_rows) > 0.05).astype("category"),
            "paid": rng.random(n_rows) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 365, n_rows), unit="D"),
        }
    )
    score = np.log(size) + table["weight"] * (color == "red") + 0.5 * table["paid"]
    return table, np.where(score + 0.3 * rng.normal(size=n_rows) > 0.2, "yes", "no")


def classifier_results(classifier: Any, queries: Any) -> Results:
    """Return what a user can ask of a fitted classifier with neighbors."""
    distances, indices = classifier.kneighbors(queries)
    explanation = classifier.explain(queries)
    results = {
        "probabilities": classifier.predict_proba(queries),
        "labels": classifier.predict(queries),
        "distances": distances,
        "neighbors": indices,
        "relevances": explanation.relevances,
        "contributions": classifier.contributions(queries),
        "supports": explanation.supports,
        "base values": explanation.base_values,
        "errors": explanation.support_errors,
        "frame": explanation.to_frame().to_string(),
        "neighbor frame": explanation.to_frame("neighbors").to_string(),
        "page": visible_text(explanation.to_html(title="Golden")),
        "notebook": visible_text(explanation._repr_html_()),
    }
    for name in ("loss_curve_", "validation_curve_", "loss_", "n_iter_"):
        if hasattr(classifier, name):
            results[name] = np.asarray(getattr(classifier, name), dtype=float)
    return results


def fit_and_explain(name: str, *, weights: bool = False, **parameters: Any) -> Results:
    """Fit on an embedded data set and return the results on held-out rows."""
    from lann import LANNClassifier

    X, y = {"iris": load_iris, "wine": load_wine, "cancer": load_breast_cancer, "digits": load_digits}[name](
        return_X_y=True
    )
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[: min(600, len(X) * 2 // 3)], order[-12:]
    sample_weight = np.random.default_rng(1).integers(1, 4, len(train)) if weights else None
    classifier = LANNClassifier(random_state=0, **parameters).fit(X[train], y[train], sample_weight)
    return classifier_results(classifier, X[test])


def fit_table(**parameters: Any) -> Results:
    """Fit on a table with gaps, categories, booleans and dates."""
    from lann import LANNClassifier

    table, y = mixed_table()
    classifier = LANNClassifier(random_state=0, **parameters).fit(table[:250], y[:250])
    return classifier_results(classifier, table[288:])


def update(**parameters: Any) -> Results:
    """Add rows with partial_fit and remove some by id."""
    from lann import LANNClassifier

    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(X))
    X, y = X[order], y[order]
    classifier = LANNClassifier(random_state=0, **parameters)
    classifier.partial_fit(X[:80], y[:80], classes=np.unique(y))
    classifier.partial_fit(X[80:120], y[80:120])
    classifier.partial_fit(X[120:160], y[120:160])
    if not parameters:
        classifier.forget(np.arange(5, 60, 5))
    return {
        **classifier_results(classifier, X[160:]),
        "weights": np.asarray(classifier.feature_weights_),
    }


def many_rows() -> Results:
    """Fit more rows than the exact search is used for."""
    from lann import LANNClassifier

    X, y = make_classification(
        60_000, 8, n_informative=5, n_classes=3, n_clusters_per_class=2, random_state=0
    )
    classifier = LANNClassifier(random_state=0, n_jobs=2).fit(X[:55_000], y[:55_000])
    results = classifier_results(classifier, X[-10:])
    results["many probabilities"] = classifier.predict_proba(X[55_000:57_000])
    return results


def saved_model() -> Results:
    """Save and load a model of a table."""
    import lann

    table, y = mixed_table()
    classifier = lann.LANNClassifier(random_state=0).fit(table[:250], y[:250])
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.lann"
        lann.save(classifier, path)
        return classifier_results(lann.load(path), table[288:])


def baseline(name: str) -> Results:
    """Fit a baseline on wine."""
    from lann import baselines

    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    order = np.random.default_rng(0).permutation(len(X))
    train, test = order[:120], order[-20:]
    estimator = getattr(baselines, name)()
    if "random_state" in estimator.get_params():
        estimator.set_params(random_state=0)
    estimator.fit(X[train], y[train])
    results = {"labels": estimator.predict(X[test])}
    if hasattr(estimator, "predict_proba"):
        results["probabilities"] = estimator.predict_proba(X[test])
    if hasattr(estimator, "kneighbors"):
        results["distances"], results["neighbors"] = estimator.kneighbors(X[test])
    if hasattr(estimator, "explain"):
        explanation = estimator.explain(X[test][:5])
        results["relevances"] = explanation.relevances
        results["page"] = visible_text(explanation.to_html(title="Golden"))
    return results


def stream(name: str) -> Results:
    """Test then train on a stream with a drift."""
    from lann import streams

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 5))
    y = (X[:, 0] + np.where(np.arange(1500) < 800, 1, -1) * X[:, 1] > 0).astype(int)
    model = getattr(streams, name)(random_state=0) if name == "SAMLANN" else getattr(streams, name)()
    probabilities = np.vstack(
        [model.test_then_train(X[i : i + 100], y[i : i + 100], classes=[0, 1]) for i in range(0, 1500, 100)]
    )
    return {
        "probabilities": probabilities,
        "sizes": np.array([model.short_term_size_, model.long_term_size_, model.n_resets_]),
        "words": str(model.explain_one(X[0])),
    }


def reject() -> Results:
    """Fit a reject option on breast cancer."""
    from lann import LANNClassifier
    from lann.reject import RejectOption

    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    option = RejectOption(LANNClassifier(random_state=0), cost=0.1, random_state=0).fit(X[:300], y[:300])
    return {
        "labels": option.predict(X[300:]),
        "probabilities": option.predict_proba(X[300:]),
        "decisions": option.decision(X[300:]),
        "certainties": option.certainties(X[300:]),
        "novelties": option.novelties(X[300:]),
        "page": visible_text(option.explain(X[300:305]).to_html(title="Golden")),
    }


def embedding() -> Results:
    """Embed iris under the learned metrics."""
    from lann import LANNEmbedding

    X, y = load_iris(return_X_y=True)
    fitted = LANNEmbedding(random_state=0)
    return {"coordinates": fitted.fit_transform(X[::2], y[::2]), "new": fitted.transform(X[1:20:2])}


def counterfactuals_and_suspects() -> Results:
    """Counterfactuals and suspicious rows of wine."""
    from lann import LANNClassifier
    from lann.explain import counterfactuals, suspicious_rows

    X, y = load_wine(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    y = y.copy()
    y[::30] = (y[::30] + 1) % 3
    classifier = LANNClassifier(random_state=0).fit(X, y)
    return {
        "counterfactuals": counterfactuals(classifier, X[:6]).to_frame().to_string(),
        "suspects": suspicious_rows(classifier).to_frame().to_string(),
    }


class _Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.parts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self._hidden += tag in ("style", "script")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("style", "script")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.parts.append(" ".join(data.split()))


def visible_text(page: str) -> str:
    """Return the text that a page shows."""
    parser = _Text()
    parser.feed(page)
    return " ".join(parser.parts)


def command_line(*commands: str) -> Results:
    """Run commands on the mixed table; return their JSON documents and the text of their pages."""
    results: Results = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        table, y = mixed_table(400)
        table.insert(0, "id", [f"case {i}" for i in range(len(table))])
        table.assign(label=y)[:300].to_csv(folder / "train.csv", index=False)
        table.assign(label=y)[300:].to_csv(folder / "test.csv", index=False)
        for command in commands:
            arguments = command.split()
            run = subprocess.run(
                [sys.executable, "-c", "from lann.cli import main; main()", *arguments],
                cwd=folder,
                capture_output=True,
                text=True,
                check=False,
            )
            text = run.stdout if run.returncode == 0 else f"exit {run.returncode}: {run.stderr[-500:]}"
            if "--json" in arguments and run.returncode == 0:
                text = json.dumps(_without_times(json.loads(text)), indent=1, sort_keys=True)
            results[command] = re.sub(r"[\d.]+ (s|ms|seconds)\b", "T s", text)
        for page in sorted(folder.glob("*.html")):
            results[page.name] = re.sub(r"[\d.]+ (s|ms|seconds)\b", "T s", visible_text(page.read_text()))
        for path in sorted(folder.glob("*.out.csv")):
            results[path.name] = path.read_text()
    return results


def _without_times(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _without_times(item) for key, item in value.items() if "second" not in key}
    return [_without_times(item) for item in value] if isinstance(value, list) else value


FIT = "fit train.csv --target label --id id -o model.lann --seed 0 --folds 3 --json"
BASELINES = "DANN GLML GMLVQ GRLVQ LGMLVQ LGRLVQ LMNN PLML MultiMetricLMNN PublishedLANN".split()  # noqa: SIM905
CONFIGURATIONS: dict[str, Callable[[], Results]] = {
    "diagonal": partial(fit_and_explain, "wine"),
    "diagonal, weights": partial(fit_and_explain, "wine", weights=True),
    "diagonal, two classes": partial(fit_and_explain, "cancer"),
    "diagonal, many features": partial(fit_and_explain, "digits"),
    "low rank": partial(fit_and_explain, "iris", metric="low_rank", n_components=2),
    "full": partial(fit_and_explain, "wine", metric="full"),
    "full, weights": partial(fit_and_explain, "iris", metric="full", weights=True),
    "one neighbor, power": partial(fit_and_explain, "iris", n_neighbors=1, power=2.0),
    "balanced": partial(fit_and_explain, "wine", class_weight="balanced"),
    "nothing learned": partial(fit_and_explain, "wine", max_iter=0),
    "early stopping": partial(fit_and_explain, "cancer", early_stopping=True),
    "two threads": partial(fit_and_explain, "digits", n_jobs=2),
    "table": fit_table,
    "table, full": partial(fit_table, metric="full"),
    "table, categories named": partial(fit_table, categorical_features=["paid", "color"]),
    "updates": update,
    "updates, bounded": partial(update, max_points=100),
    "updates, full": partial(update, metric="full", max_points=110),
    "more than 50 000 rows": many_rows,
    "saved": saved_model,
    **{name: partial(baseline, name) for name in BASELINES},
    "SAMKNN": partial(stream, "SAMKNN"),
    "SAMLANN": partial(stream, "SAMLANN"),
    "reject": reject,
    "embedding": embedding,
    "counterfactuals, suspects": counterfactuals_and_suspects,
    "lann fit, predict, explain": partial(
        command_line,
        FIT,
        "predict model.lann test.csv -o predicted.out.csv --json",
        "predict model.lann test.csv -o decided.out.csv --reject-cost 0.1 --json",
        "explain model.lann test.csv --row 3 --row 7 --json",
        "explain model.lann test.csv --rows 0:5 --html explain.html",
        "explain model.lann test.csv --row 3",
        "info model.lann --json",
    ),
    "lann evaluate, counterfactual, suspects": partial(
        command_line,
        FIT,
        "evaluate model.lann test.csv --json --html evaluate.html",
        "counterfactual model.lann test.csv --rows 0:4 --json",
        "suspects --model model.lann --json",
        "suspects train.csv --target label --id id --seed 0 --json",
    ),
    "lann stream, embed": partial(
        command_line,
        "stream train.csv --target label --drop id --json -o stream.out.csv --seed 0",
        "embed train.csv --target label --id id --seed 0 -o embed.csv --json",
    ),
}

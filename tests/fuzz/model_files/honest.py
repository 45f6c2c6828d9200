"""Small honest model files of every public estimator, and how a loaded model is used."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lann import LANNClassifier, LANNEmbedding, save
from lann.baselines import (
    DANN,
    GLML,
    GMLVQ,
    GRLVQ,
    LGMLVQ,
    LGRLVQ,
    LMNN,
    PLML,
    MultiMetricLMNN,
    PublishedLANN,
)
from lann.columns.schema import TableSchema
from lann.embedding import DiscriminantPlane, NeighborEmbedding
from lann.model import LocalModel
from lann.persist import CrossValidatedMethod, TableRecord, read_model_file
from lann.persist._model_file import from_bytes, to_bytes
from lann.reject import RejectOption, RejectState
from lann.search import CellIndex
from lann.streams import SAMKNN, SAMLANN
from tests.fuzz.inputs.checks import check_predictions, check_probabilities, require

LAYOUT = {"method": "tsne", "max_iter": 250, "n_neighbors": 5, "random_state": 0}
EXPLAINED = 4
METHOD = CrossValidatedMethod("LANN", 5, 0, 0.96, 0.02, 0.95, 0.02, 0.98, 0.01, 0.12, 0.03)


def _estimators() -> list[Any]:
    quick = {"max_iter": 2, "random_state": 0}
    return [
        LANNClassifier(**quick),
        LANNClassifier(metric="full", class_weight={"setosa": 2.0, "virginica": 0.5}, **quick),
        LANNClassifier(metric="low_rank", n_components=2, n_candidates=None, **quick),
        LANNClassifier(n_neighbors=3, power=0.5, levels=("curves",), **quick),
        PublishedLANN(**quick),
        PublishedLANN(metric="full", **quick),
        LMNN(weights="distance", n_components=2, max_iter=2),
        LMNN(init=np.eye(4), max_iter=2),
        MultiMetricLMNN(max_iter=2),
        DANN(weights="distance"),
        GLML(),
        PLML(n_anchors=3, **quick),
        GRLVQ(**quick),
        LGRLVQ(**quick),
        GMLVQ(n_components=2, **quick),
        LGMLVQ(prototypes_per_class=2, **quick),
        DiscriminantPlane(),
        NeighborEmbedding(**LAYOUT),
        LANNEmbedding(LANNClassifier(**quick), **LAYOUT),
        LANNEmbedding(LMNN(max_iter=2), **LAYOUT),
        RejectOption(LANNClassifier(**quick), cv=2, coverage=0.8, random_state=0),
        RejectOption(LANNClassifier(**quick), cv=2, by="local", risk=0.1, random_state=0),
        RejectOption(LMNN(max_iter=2), cv=2, by="class", certainty="novelty", random_state=0),
        SAMKNN(window_size=30, min_window_size=10, random_state=0),
        SAMLANN(window_size=30, min_window_size=10, random_state=0),
    ]


def honest_files(folder: Path) -> list[bytes]:
    """
    Fit and save small models: some after an explanation, one with weights, one with a table, one with cells.

    Parameters
    ----------
    folder
        Where files are written, and removed again.
    """
    iris = load_iris()
    X, y = scale(iris.data)[::3], iris.target_names[iris.target[::3]]
    table = TableRecord("species", "plant", None, np.arange(len(X)), {"date": "a constant"}, [{"name": "a"}])
    table = replace(table, data_sha256="0f" * 32, cross_validation=[METHOD])
    files, path = [], folder / "honest.lann"
    for number, estimator in enumerate(_estimators()):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            options = {"sample_weight": 1.0 + np.arange(len(X)) % 3} if number == 0 else {}
            estimator.fit(X, y, **options)
            # DANN takes a second to compute what an explanation needs; a file has it, or it is computed.
            if isinstance(estimator, DANN) or (number % 2 == 0 and hasattr(estimator, "explain")):
                estimator.explain(X[:EXPLAINED])
        save(estimator, path, table=table if number == 1 else None)
        files.append(path.read_bytes())
    frame = _table(X)
    model = LANNClassifier(max_iter=2, random_state=0).fit(frame, y)
    model.explain(frame[:EXPLAINED])
    reject = RejectOption(LANNClassifier(max_iter=2, random_state=0), cv=2, random_state=0).fit(frame, y)
    for fitted in (model, LANNClassifier(max_iter=2, random_state=0, metric="full").fit(frame, y), reject):
        save(fitted, path)
        files.append(path.read_bytes())
    save(_with_cells(LANNClassifier(max_iter=2, random_state=0).fit(X, y)), path)
    files.append(path.read_bytes())
    state = RejectState.of(reject).without_thresholds(len(X))
    save(reject.estimator_, path, table=replace(table, reject=state))
    files.append(path.read_bytes())
    path.unlink()
    return files


def _with_cells(clf: LANNClassifier) -> LANNClassifier:
    """Return the classifier with a search of cells, as those of many rows have it."""
    model, rule = clf.model_, clf.model_.vote_rule
    clf.model_ = LocalModel(
        model.levels.stored_as(np.float32, np.float32),
        n_candidates=model.n_candidates,
        n_neighbors=model.n_neighbors,
        power=rule.power,
        floor=rule.floor,
        epsilon=rule.epsilon,
        index=CellIndex.build(model.levels.class_metric()),
    )
    return clf


def _table(X: np.ndarray) -> pd.DataFrame:
    """Return rows with numbers, categories, dates and gaps."""
    rows = np.arange(len(X))
    frame = pd.DataFrame(X.copy(), columns=["a", "b", "c", "d"])
    frame.loc[rows % 5 == 0, ["a", "c"]] = np.nan
    frame["color"] = pd.Series(np.array(["red", "green", "blue"])[rows % 3]).mask(rows % 7 == 0)
    frame["known"] = rows % 2 == 0
    frame["day"] = pd.Timestamp("2020-01-01") + pd.to_timedelta(rows, unit="D")
    frame["size"] = pd.Categorical(np.array(["s", "m"])[rows % 2], categories=["s", "m"], ordered=True)
    return frame.set_index(pd.Index([f"row {row}" for row in rows]))


def use(model: Any, rng: np.random.Generator) -> None:
    """
    Predict, explain, transform and learn; raise WrongResult if a result must not be.

    Parameters
    ----------
    model
        A loaded estimator.
    rng
        Draws the queries.
    """
    n_features = model.n_features_in_
    queries = rng.normal(size=(6, n_features))
    queries[1] *= 1e3
    names = getattr(model, "feature_names_in_", None)
    rows: Any = queries
    schema = getattr(getattr(model, "estimator_", model), "schema_", None)
    if schema is not None and not schema.is_numeric:
        rows = _queries(schema, queries)
    elif names is not None:
        rows = pd.DataFrame(queries, columns=names)
    if hasattr(model, "predict_proba"):
        probabilities = np.asarray(model.predict_proba(rows))
        check_probabilities(probabilities, len(queries), len(model.classes_))
        check_predictions(model, np.asarray(model.predict(rows)), probabilities)
    if hasattr(model, "transform"):
        require(np.isfinite(np.asarray(model.transform(rows))), "Coordinates are not finite.")
    if hasattr(model, "reasons"):
        model.reasons(rows)
    if hasattr(model, "kneighbors"):
        distances, indices = map(np.asarray, model.kneighbors(rows, 1))
        require(np.isfinite(distances) & (indices >= 0), f"Neighbors {indices.T}, distances {distances.T}.")
    if hasattr(model, "explain"):
        explanation = model.explain(rows[:2])
        require(np.isfinite(explanation.supports), "Supports are not finite.")
        require(np.isfinite(explanation.contributions), "Contributions are not finite.")
        require(len(explanation.in_words()) == 2, "There are not two sentences.")
    if hasattr(model, "with_target"):
        model.with_target(coverage=0.5).decision(rows)
    if hasattr(model, "feature_weights_"):
        _ = model.class_feature_weights_
    if hasattr(model, "test_then_train"):
        model.test_then_train(queries, model.classes_[rng.integers(len(model.classes_), size=len(queries))])


def _queries(schema: TableSchema, numbers: np.ndarray) -> Any:
    """Return rows of a schema, with gaps, and one category that is unseen."""
    codes = numbers.copy()
    for feature, column in zip(schema.features, codes.T, strict=True):
        if feature.kind != "number":
            most = max(len(feature.categories), 2)
            column[:] = np.floor(np.abs(column)) % most
    codes[2:4, ::2] = np.nan
    codes[4, np.array(schema.n_categories) > 0] = -1.0
    return schema.to_table(codes)


def load_and_use(path: Path) -> None:
    """Load a file and use the model; the queries are always the same.

    What a reject option has learned of the model's table is used, too.
    """
    file = read_model_file(path)
    use_file(file.model, file.table)


def use_file(model: Any, table: TableRecord | None) -> None:
    """Use a loaded model and, if its table has one, what a reject option has learned; save it again."""
    content = to_bytes(model, table)
    use(model, np.random.default_rng(0))
    require(to_bytes(from_bytes(content).model, table) == content, "A file that is saved again differs.")
    if table is not None and table.reject is not None:
        use(table.reject.restore(RejectOption(coverage=0.8), model), np.random.default_rng(0))

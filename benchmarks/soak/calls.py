"""The calls of the run: each takes the number of a case, and returns arrays that depend on nothing else."""

from __future__ import annotations

import hashlib
import io
import pickle
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.datasets import load_wine

import lann
from lann import LANNClassifier
from lann.baselines import GMLVQ
from lann.datasets import make_local_relevance_table
from lann.embedding import LANNEmbedding, NeighborEmbedding
from lann.explain import counterfactuals
from lann.reject import RejectOption
from lann.streams import SAMKNN, SAMLANN

N_CASES = 3
# Calls that take a second are made less often than others.
RARE = {"plot": 0.2}
Call = Callable[[int], list[Any]]


def digest(arrays: list[Any]) -> str:
    """Return a fingerprint of all bits of some arrays, bytes and objects."""
    found = hashlib.sha256()
    for array in arrays:
        if isinstance(array, bytes):
            found.update(array)
            continue
        values = np.asarray(array)
        found.update(f"{values.dtype.str}{values.shape}".encode())
        found.update(repr(values.tolist()).encode() if values.dtype == object else values.tobytes())
    return found.hexdigest()


class Calls:
    """
    The calls, by name, and the fitted estimators that they share.

    Parameters
    ----------
    seed
        Determines the queries and all estimators.
    """

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.X, self.y = load_wine(return_X_y=True)
        self.table, self.table_y, _ = make_local_relevance_table(300, random_state=seed)
        # pyplot is not for several threads, and matplotlib opens its fonts once per thread.
        self._drawing = ThreadPoolExecutor(1)

    # Fitted when the first call is made, on one thread.

    @cached_property
    def classifier(self) -> LANNClassifier:
        return LANNClassifier(max_iter=2, random_state=self.seed, n_jobs=2).fit(self.X, self.y)

    @cached_property
    def of_table(self) -> LANNClassifier:
        return LANNClassifier(max_iter=2, random_state=self.seed).fit(self.table, self.table_y)

    @cached_property
    def baseline(self) -> GMLVQ:
        return GMLVQ(max_iter=3, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def reject(self) -> RejectOption:
        classifier = LANNClassifier(max_iter=1, random_state=self.seed)
        return RejectOption(classifier, cost=0.1, cv=2, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def embedding(self) -> LANNEmbedding:
        return LANNEmbedding(clone(self.classifier), max_iter=20, random_state=self.seed).fit(self.X, self.y)

    @cached_property
    def stream(self) -> SAMLANN:
        return SAMLANN(window_size=200, random_state=self.seed).fit(self.X, self.y)

    def by_name(self) -> dict[str, Call]:
        """Return the calls by the names in the table."""
        return {
            "predict": self._predict,
            "predict_proba": self._predict_proba,
            "kneighbors": self._kneighbors,
            "explain": self._explain,
            "explain a table": self._explain_table,
            "counterfactuals": self._counterfactuals,
            "fit": self._fit,
            "fit a table": self._fit_table,
            "partial_fit and forget": self._update,
            "save and load": self._save_and_load,
            "pickle": self._pickle,
            "clone": self._clone,
            "stream": self._stream,
            "stream, explain": self._explain_stream,
            "reject": self._reject,
            "transform": self._transform,
            "fit an embedding": self._embed,
            "baseline": self._baseline,
            "plot": self._plot,
        }

    def _rng_of(self, case: int) -> np.random.Generator:
        return np.random.default_rng((self.seed, case))

    def _queries(self, case: int, n_rows: int = 100) -> Any:
        rng = self._rng_of(case)
        return self.X[rng.integers(0, len(self.X), n_rows)] + 0.05 * rng.normal(
            size=(n_rows, self.X.shape[1])
        )

    def _rows(self, case: int) -> Any:
        """Return the numbers of some training rows, with all classes among them."""
        return self._rng_of(case).permutation(len(self.X))[:120]

    def _predict(self, case: int) -> list[Any]:
        return [self.classifier.predict(self._queries(case)), self.classifier.predict(self._queries(case, 1))]

    def _predict_proba(self, case: int) -> list[Any]:
        return [self.classifier.predict_proba(self._queries(case))]

    def _kneighbors(self, case: int) -> list[Any]:
        return list(self.classifier.kneighbors(self._queries(case), 7))

    def _explain(self, case: int) -> list[Any]:
        found = self.classifier.explain(self._queries(case, 5))
        return [found.neighbor_ids, found.contributions, found.supports, found.to_html().encode()]

    def _explain_table(self, case: int) -> list[Any]:
        found = self.of_table.explain(self.table[20 * case : 20 * case + 5])
        return [found.neighbor_ids, found.contributions, found.supports, *found.in_words()]

    def _counterfactuals(self, case: int) -> list[Any]:
        found = counterfactuals(self.classifier, self._queries(case, 3))
        return [found.rows, found.labels, found.distances]

    def _fit(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=2, random_state=case, n_jobs=2).fit(self.X[rows], self.y[rows])
        return [fitted.predict_proba(self._queries(case))]

    def _fit_table(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=1, random_state=case)
        return [fitted.fit(self.table.iloc[rows], self.table_y[rows]).predict_proba(self.table[:50])]

    def _update(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = LANNClassifier(max_iter=1, random_state=case, max_points=80)
        for part in np.array_split(rows, 3):
            fitted.partial_fit(self.X[part], self.y[part], classes=np.unique(self.y))
        fitted.forget(fitted.ids_[:10] if fitted.ids_ is not None else [len(rows) - 1])
        return [fitted.predict_proba(self._queries(case))]

    def _save_and_load(self, case: int) -> list[Any]:
        model = (self.classifier, self.reject, self.embedding)[case % 3]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.lann")
            lann.save(model, path)
            loaded = lann.load(path)
        return [
            loaded.transform(self._queries(case)) if case % 3 == 2 else loaded.predict(self._queries(case))
        ]

    def _pickle(self, case: int) -> list[Any]:
        return [pickle.loads(pickle.dumps(self.classifier)).predict_proba(self._queries(case))]

    def _clone(self, case: int) -> list[Any]:
        cloned = clone(self.classifier).set_params(max_iter=0, n_neighbors=3 + case)
        return [cloned.fit(self.X, self.y).predict_proba(self._queries(case))]

    def _stream(self, case: int) -> list[Any]:
        rows = self._rows(case)
        kind = (SAMKNN, SAMLANN)[case % 2]
        stream = kind(window_size=100, min_window_size=20, random_state=case)
        found = stream.test_then_train(self.X[rows], self.y[rows], classes=np.unique(self.y))
        return [found, stream.predict(self._queries(case))]

    def _explain_stream(self, case: int) -> list[Any]:
        queries = self._queries(case, 20)
        return [self.stream.predict_proba(queries), str(self.stream.explain_one(queries[0])).encode()]

    def _reject(self, case: int) -> list[Any]:
        queries = self._queries(case)
        return [self.reject.decision(queries), self.reject.novelties(queries)]

    def _transform(self, case: int) -> list[Any]:
        return [self.embedding.transform(self._queries(case))]

    def _embed(self, case: int) -> list[Any]:
        return [NeighborEmbedding(max_iter=20, random_state=case).fit(self.X[self._rows(case)]).embedding_]

    def _baseline(self, case: int) -> list[Any]:
        rows = self._rows(case)
        fitted = clone(self.baseline).fit(self.X[rows], self.y[rows])
        return [fitted.predict(self._queries(case)), self.baseline.predict(self._queries(case))]

    def _plot(self, case: int) -> list[Any]:
        return [self._drawing.submit(self._draw, case).result()]

    def _draw(self, case: int) -> bytes:
        from matplotlib import pyplot as plt

        from lann.plot import ExplanationDisplay

        shown = ExplanationDisplay.from_estimator(self.classifier, self._queries(case, 1))
        picture = io.BytesIO()
        try:
            shown.figure_.savefig(picture, format="png", dpi=50)
        finally:
            plt.close(shown.figure_)
        return picture.getvalue()

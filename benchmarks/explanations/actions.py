"""Counterfactuals beside DiCE, and suspicious labels beside cleanlab."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from io import StringIO
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import average_precision_score
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestNeighbors

from benchmarks.harness import NAN, Check, Found, Job, Results, Values, check
from benchmarks.methods import TableEncoder, make_estimator
from benchmarks.paper import lowest
from benchmarks.tabular import TableSet, load_tables
from lann._support.types import Floats, Labels

CHANGES, SUSPECTS = PARTS = ("counterfactuals", "suspects")
OURS, CLEANLAB = "lann", "cleanlab"
DICE = ("random", "genetic", "kdtree")
# Titles of the tables, their parts, and their scores.
TABLES = (
    (
        "Counterfactuals", CHANGES,
        ("found", "valid", "kept", "features", "size", "plausible", "held_out", "far", "seconds"),
    ),
    ("Suspicious rows", SUSPECTS, ("ap", "precision", "recall", "listed", "seconds")),
)  # fmt: skip
SUSPECT_TABLES = {
    **dict.fromkeys(("adult", "bank-marketing", "titanic", "crx", "heart-disease", "kr-vs-kp"), "mixed"),
    **dict.fromkeys(("gamma-telescope", "image-segmentation", "ionosphere", "pen-digits"), "paper"),
}
NOISE = (0.05, 0.1, 0.2)
# By table: columns that must not change, and columns that only go up or down.
CHANGED_TABLES: dict[str, tuple[tuple[str, ...], dict[str, str]]] = {
    "titanic": (("sex", "age"), {"sibsp": "down"}),
    "heart-disease": (("age", "sex"), {"chol": "down"}),
    "adult": (
        ("age", "sex", "race", "native-country", "fnlwgt"), {"hours-per-week": "up", "education-num": "up"}
    ),
    "bank-marketing": (("age", "marital", "education"), {"balance": "up"}),
    "crx": (("A1",), {"A3": "up"}),
}  # fmt: skip
AT_LEAST, N_NEAR = 0.6, 10
# Seconds of processor time for a row, after which DiCE has found nothing: some of its loops do not end.
LONGEST = 10.0


def jobs(part: str, sizes: Any, n_jobs: int, key: Any, skipped: dict[str, str]) -> Iterator[Job]:
    """Return the jobs of a part, and add what is missing to those that are skipped."""
    names, package = sizes.changed_tables, "dice_ml"
    others: tuple[str, ...] = DICE
    if part == SUSPECTS:
        names, others, package = sizes.suspect_tables, (CLEANLAB,), "cleanlab"
    if find_spec(package) is None:
        skipped[package], others = "needs lann[benchmarks].", ()
    tables, missing = load_tables({name: SUSPECT_TABLES[name] for name in names}, names)
    skipped.update(missing)
    for split, table, method in product(range(sizes.action_splits), tables, (OURS, *others)):
        for name, run in _runs(part, method, table, split, sizes, n_jobs):
            yield Job(part, method, name, split, run, (*key, table.digest))


def _runs(
    part: str, method: str, table: TableSet, split: int, sizes: Any, n_jobs: int
) -> Iterator[tuple[str, Callable[[], Found]]]:
    """Return what is measured of a method on a table, by the name of the data."""
    if part == CHANGES:
        rows = {"n_train": sizes.changed_train, "n_queries": sizes.changed_rows}
        yield table.name, lambda: score_changes(method, make_case(table, split, n_jobs=n_jobs, **rows), split)
        return
    for noise in NOISE:
        yield f"{table.name}, {noise:.0%}", partial(_score_noise, method, table, noise, split, sizes, n_jobs)


def _score_noise(method: str, table: TableSet, share: float, seed: int, sizes: Any, n_jobs: int) -> Found:
    return score_suspects(method, *plant_noise(table, share, seed, sizes.suspect_rows), n_jobs, seed)


def checks(results: Results) -> list[Check]:
    """Return the checks of both parts."""
    changed, suspected = (results.data_sets(part) for part in PARTS)
    valid, kept = (
        lowest([results.mean(CHANGES, OURS, name, score) for name in changed]) if changed else NAN
        for score in ("valid", "kept")
    )
    found = [
        check("counterfactuals: all valid after rounding", valid, least=1),
        check("counterfactuals: constraints always kept", kept, least=1),
    ]
    for name in DICE:
        lead = plausibility_lead(results, name)
        found.append(check(f"counterfactuals: more plausible than DiCE's, {name}", lead, least=1e-8))
    ours, theirs = (results.mean(SUSPECTS, method, suspected, "ap") for method in (OURS, CLEANLAB))
    ahead = "suspects: mean average precision minus that of cleanlab with a forest"
    return [*found, check(ahead, ours - theirs, least=0)]


def plausibility_lead(results: Results, other: str) -> float:
    """Return how much more plausible changes of LANN are, on the rows that both have changed."""
    leads = []
    for name in results.data_sets(CHANGES):
        ours, theirs = (results.cell(CHANGES, method, name) for method in (OURS, other))
        for split in ours.keys() & theirs.keys():
            pairs = zip(ours[split]["plausible_rows"], theirs[split]["plausible_rows"], strict=True)
            leads += [mine - their for mine, their in pairs if mine is not None and their is not None]
    return float(np.mean(leads)) if leads else NAN


def plant_noise(table: TableSet, share: float, seed: int, most: int) -> tuple[Any, Labels, NDArray[np.bool_]]:
    """Return some rows of a table, their labels, of which a share is wrong at random, and which these are."""
    rng = np.random.default_rng([seed, round(100 * share)])
    rows = np.sort(rng.permutation(len(table.y))[:most])
    truth, n_classes = table.y[rows], int(table.y.max()) + 1
    wrong = np.zeros(len(rows), bool)
    wrong[rng.choice(len(rows), round(share * len(rows)), replace=False)] = True
    labels = np.where(wrong, (truth + rng.integers(1, n_classes, len(rows))) % n_classes, truth)
    return table.table.iloc[rows].reset_index(drop=True), labels, wrong


def score_suspects(
    method: str, X: Any, labels: Labels, wrong: NDArray[np.bool_], n_jobs: int, seed: int
) -> Found:
    """Score how well a method ranks planted wrong labels, and the rows that it lists."""
    start = time.perf_counter()
    rank = _rank_lann if method == OURS else _rank_cleanlab
    scores, listed = rank(X, labels, n_jobs, seed)
    return {
        method: {
            "ap": float(average_precision_score(wrong, scores)),
            "precision": float(wrong[listed].mean()) if len(listed) else 1.0,
            "recall": float(wrong[listed].sum() / wrong.sum()),
            "listed": len(listed) / wrong.sum(),
            "seconds": time.perf_counter() - start,
        }
    }


def _rank_lann(X: Any, labels: Labels, n_jobs: int, seed: int) -> tuple[Floats, Any]:
    from lann.explain import suspicious_rows

    found = suspicious_rows(make_estimator(OURS, n_jobs, seed).fit(X, labels))
    return found.scores, found.suspects


def _rank_cleanlab(X: Any, labels: Labels, n_jobs: int, seed: int) -> tuple[Floats, Any]:
    """Rank by cleanlab's default, the out-of-fold probability of the label, of a forest."""
    from cleanlab.filter import find_label_issues
    from cleanlab.rank import get_label_quality_scores

    probabilities = np.zeros((len(X), labels.max() + 1))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, labels):
        encoder = TableEncoder().fit(X.iloc[train])
        forest = make_estimator("forest", n_jobs, seed).fit(encoder.transform(X.iloc[train]), labels[train])
        found = forest.predict_proba(encoder.transform(X.iloc[test]))
        probabilities[np.ix_(test, forest.classes_)] = found
    listed = find_label_issues(labels, probabilities, return_indices_ranked_by="self_confidence")
    return -get_label_quality_scores(labels, probabilities), listed


@dataclass(frozen=True)
class Case:
    """Rows to change, a model of others, and what may change.

    Parameters
    ----------
    X, y : training rows and their labels
    queries : rows to change
    held_out, held_out_y : other rows and their labels, which no method has
    model : the fitted LANN
    frozen, direction : columns that must not change, and that only go up or down
    """

    X: Any
    y: Labels
    queries: Any
    held_out: Any
    held_out_y: Labels
    model: Any
    frozen: tuple[str, ...]
    direction: dict[str, str]

    @property
    def numbers(self) -> list[str]:
        return list(self.X.select_dtypes("number"))

    @property
    def wanted(self) -> Labels:
        return 1 - self.model.predict(self.queries)


def make_case(table: TableSet, seed: int, *, n_train: int, n_queries: int, n_jobs: int) -> Case:
    """Return a case of a table with two classes; rows with gaps, which DiCE does not take, are left out."""
    frozen, direction = CHANGED_TABLES[table.name]
    X, y = table.table.dropna().reset_index(drop=True), table.y[table.table.notna().all(axis=1).to_numpy()]
    X = X.astype(dict.fromkeys(X.columns.difference(X.select_dtypes("number").columns), str))
    order = np.random.default_rng(seed).permutation(len(y))
    n_train = min(n_train, len(y) * 7 // 10)
    train, queries, rest = np.split(order, [n_train, n_train + n_queries])
    model = make_estimator(OURS, n_jobs, seed).fit(X.iloc[train], y[train])
    rows = (X.iloc[part].reset_index(drop=True) for part in (train, queries, rest[:n_train]))
    X_train, X_queries, X_rest = rows
    return Case(X_train, y[train], X_queries, X_rest, y[rest[:n_train]], model, frozen, direction)


def score_changes(method: str, case: Case, seed: int) -> Found:
    """Score the changes that a method finds: rounded to the decimals of the columns, and predicted again."""
    start = time.perf_counter()
    rows, found = _change_by_lann(case) if method == OURS else _change_by_dice(case, method, seed)
    seconds = (time.perf_counter() - start) / len(rows)
    before, wanted, every = case.queries, case.wanted, np.arange(len(rows))
    for column in case.numbers:
        rows[column] = rows[column].astype(float).round(decimals(case.X[column]))
    rows = rows.astype(case.X.dtypes.to_dict())
    valid = case.model.predict_proba(rows)[every, wanted] >= AT_LEAST
    kept = (rows[list(case.frozen)] == before[list(case.frozen)]).all(axis=1).to_numpy()
    for column, sign in case.direction.items():
        kept = kept & ((rows[column] - before[column]) * (1 if sign == "up" else -1) >= 0).to_numpy()
    sizes = (rows != before).astype(float)
    sizes[case.numbers] = (rows[case.numbers] - before[case.numbers]).abs() / case.X[case.numbers].std()
    near, lengths = nearest_rows(case, case.X, case.y, rows)
    values: Values = {
        "found": float(found.mean()),
        "seconds": seconds,
        "plausible_rows": [share if ok else None for share, ok in zip(near.tolist(), found, strict=True)],
    }
    if found.any():
        held_out, _ = nearest_rows(case, case.held_out, case.held_out_y, rows)
        by_row = {
            "valid": valid, "kept": kept, "features": (rows != before).sum(axis=1), "size": sizes.sum(axis=1),
            "plausible": near, "held_out": held_out, "far": far_rows(case, lengths),
        }  # fmt: skip
        values |= {name: float(np.mean(np.asarray(of)[found])) for name, of in by_row.items()}
    return {method: values}


def nearest_rows(case: Case, X: Any, y: Labels, rows: Any) -> tuple[Floats, Floats]:
    """Return the share of the wanted class among the nearest rows, and the mean distance to these.

    Rows are standardized and one-hot encoded.
    """
    encoder = TableEncoder().fit(case.X)
    squares = euclidean_distances(encoder.transform(rows), encoder.transform(X), squared=True)
    near = np.argsort(squares, axis=1, kind="stable")[:, :N_NEAR]
    lengths = np.sqrt(np.take_along_axis(squares, near, axis=1)).mean(axis=1)
    return np.asarray((y[near] == case.wanted[:, None]).mean(axis=1)), lengths


def far_rows(case: Case, lengths: Floats) -> NDArray[np.bool_]:
    """Return which changed rows are farther from others than 99 % of the training rows and their query."""
    X = TableEncoder().fit(case.X).transform(case.X)
    distances, _ = NearestNeighbors(n_neighbors=N_NEAR).fit(X).kneighbors()
    own = nearest_rows(case, case.X, case.y, case.queries)[1]
    return np.asarray(lengths > np.maximum(np.quantile(distances.mean(axis=1), 0.99), own) * (1 + 1e-6))


def decimals(column: Any) -> int:
    """Return the number of decimals that a column has, at most 10."""
    return next((d for d in range(10) if (column.round(d) == column).all()), 10)


def _change_by_lann(case: Case) -> tuple[Any, NDArray[np.bool_]]:
    from lann.explain import counterfactuals

    constraints = {"frozen": case.frozen, "direction": case.direction}
    changes = counterfactuals(case.model, case.queries, at_least=AT_LEAST, constraints=constraints)
    return changes.to_table().reset_index(drop=True), changes.found


def _change_by_dice(case: Case, method: str, seed: int) -> tuple[Any, NDArray[np.bool_]]:
    import dice_ml

    X, rows, found = case.X, case.queries.copy(), np.zeros(len(case.queries), bool)
    precision = {column: decimals(X[column]) for column in case.numbers}
    data = dice_ml.Data(
        dataframe=X.assign(target=case.y), continuous_features=case.numbers, outcome_name="target",
        continuous_features_precision=precision,
    )  # fmt: skip
    model = dice_ml.Model(model=_Typed(case), backend="sklearn")
    explainer = dice_ml.Dice(data, model, method=method)
    random.seed(seed)
    options = {"random_seed": seed} if method == "random" else {}
    for i in range(len(rows)):
        query, ranges = case.queries.iloc[[i]], {}
        for column, sign in case.direction.items():
            now = float(query[column].iloc[0])
            low, high = min(X[column].min(), now), max(X[column].max(), now)
            ranges[column] = [now, high] if sign == "up" else [low, now]
        result = None
        # It raises errors where nothing is found, of several kinds.
        with suppress(Exception), _limited(LONGEST), redirect_stdout(StringIO()), redirect_stderr(StringIO()):
            result = explainer.generate_counterfactuals(
                query, total_CFs=1, desired_class="opposite", stopping_threshold=AT_LEAST,
                features_to_vary=[column for column in X if column not in case.frozen],
                permitted_range=ranges, **options,
            ).cf_examples_list[0].final_cfs_df  # fmt: skip
        if result is not None and len(result):
            rows = rows.astype(object)
            rows.loc[i, list(X)] = result[list(X)].iloc[0].to_numpy()
            found[i] = True
    return rows, found


class _Typed:
    """The model of a case for rows whose types DiCE has changed."""

    def __init__(self, case: Case) -> None:
        self.case = case

    def predict_proba(self, rows: Any) -> Floats:
        rows = rows[list(self.case.X)].astype(self.case.X.dtypes.to_dict())
        return np.asarray(self.case.model.predict_proba(rows))

    def predict(self, rows: Any) -> Labels:
        return self.predict_proba(rows).argmax(axis=1)


@contextmanager
def _limited(seconds: float) -> Iterator[None]:
    """Raise TimeoutError after some processor time; in the main thread, on systems with alarms."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)

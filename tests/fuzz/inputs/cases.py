"""Cases of hostile inputs: what is given to which estimator, and what has to hold then."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.exceptions import NotFittedError

from tests.fuzz.inputs import containers, labels, values
from tests.fuzz.inputs.checks import (
    IN_MEMORY,
    check_reference,
    check_results,
    check_saved,
    require,
    same,
)
from tests.fuzz.inputs.parameters import HOSTILE, values_of
from tests.fuzz.inputs.source import Source
from tests.fuzz.inputs.subjects import (
    SUBJECTS,
    Subject,
    fitted,
    fitted_to_table,
    honest_queries,
    honest_result,
    honest_rows,
    honest_table,
)
from tests.fuzz.outcomes import WrongResult

Action = Callable[[], None]
ALL_CONTAINERS = containers.EQUAL | containers.OTHER
ALL_LABELS = labels.EQUAL | labels.OTHER
# Can be read once only.
READ_ONCE = ("generator",)


def _values(source: Source, X: np.ndarray, percent: int) -> tuple[Any, np.ndarray]:
    """Return a change of numbers and its result; it is hostile that often."""
    change = source.choose(values.VALUES) if source.chance(percent) else values.as_they_are
    return change, np.array(change(X.copy(), source))


def _container(source: Source, X: np.ndarray, percent: int) -> tuple[str, Any]:
    """Return a container's name and the container; it is hostile that often."""
    name = source.choose(tuple(ALL_CONTAINERS)) if source.chance(percent) else "array"
    return name, ALL_CONTAINERS[name](X.copy(), source)


def _result(subject: Subject, estimator: Any, X: Any) -> np.ndarray:
    return np.asarray(getattr(estimator, subject.output)(X))


def _attempt(function: Callable[[], Any]) -> Any:
    """Return a result, or None if it raises."""
    try:
        return function()
    except Exception:
        return None


def _bits(X: Any) -> Any:
    """Return a copy of what a container has, to see later whether it was changed."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "fiubcMm":
        return X.tobytes()
    if isinstance(X, pd.DataFrame | pd.Series | list):
        return copy.deepcopy(X)
    return None


def _check_not_modified(X: Any, before: Any) -> None:
    now = _bits(X)
    equal = now.equals(before) if isinstance(now, pd.DataFrame | pd.Series) else repr(now) == repr(before)
    require(equal, "The input was modified.")


def check_unchanged(subject: Subject, estimator: Any, was_fitted: bool) -> None:
    """Check that an estimator is as it was before a call, which may have raised."""
    try:
        found = _result(subject, estimator, honest_queries())
    except NotFittedError as error:
        if was_fitted:
            raise WrongResult("After a call, a fitted estimator is not fitted.") from error
        return
    except Exception as error:
        raise WrongResult(f"After a call, the estimator raises: {error}") from error
    require(was_fitted, "After a fit that raised, an estimator predicts.")
    require(same(found, honest_result(subject)), "Changed by a call.")


# Fit


def fit_case(source: Source) -> tuple[str, Action]:
    """Fit an estimator to hostile rows, labels and weights."""
    subject = source.choose(SUBJECTS)
    X, y = honest_rows()
    change, numbers = _values(source, X, 55)
    container, rows = _container(source, numbers, 45)
    names = tuple(ALL_LABELS) if source.chance(35) else ("integers",)
    label = source.choose(names)
    y = np.resize(y, len(numbers)) if numbers.ndim else y
    target = ALL_LABELS[label](y, source)
    weight = source.choose(tuple(labels.WEIGHTS)) if subject.takes_weights and source.chance(20) else None
    options = {} if weight is None else {"sample_weight": labels.WEIGHTS[weight](y, source)}
    was_fitted, compare, explain = source.chance(30), source.chance(25), source.chance(30)
    save = source.chance(30)
    name = f"{subject.name}.fit({container} of {change.__name__}, {label}, weights: {weight})"
    usual = container in containers.EQUAL and label in labels.EQUAL and change in values.ORDINARY

    def action() -> None:
        estimator = copy.deepcopy(fitted(subject)) if was_fitted else subject.make()
        before = _bits(rows), _bits(target)
        try:
            estimator.fit(rows, target, **options)
        except Exception as error:
            _check_not_modified(rows, before[0])
            check_unchanged(subject, estimator, was_fitted)
            if usual and weight is None and isinstance(error, ValueError | TypeError):
                raise WrongResult(f"Ordinary rows and labels are rejected: {error}") from error
            raise
        _check_not_modified(rows, before[0])
        _check_not_modified(target, before[1])
        if container in READ_ONCE:
            return
        n_rows = _n_rows(numbers if container in containers.EQUAL else rows)
        if subject.is_classifier:
            _check_learned(subject, estimator, rows, n_rows, explain=explain)
        if save:
            check_saved(subject, estimator, honest_queries()[:, : estimator.n_features_in_])
        if compare and container in containers.EQUAL and label in labels.EQUAL:
            plain = subject.make().fit(numbers.astype(float), y, **options)
            expected = _result(subject, plain, numbers[:5].astype(float))
            got = _result(subject, estimator, numbers[:5].astype(float))
            require(same(got, expected), f"Other results than for an array of numbers: {got}, {expected}.")

    return name, action


def _check_learned(subject: Subject, estimator: Any, rows: Any, n_rows: int, *, explain: bool) -> None:
    """Check what an estimator says of rows that it has learned; it has to say something."""
    try:
        check_results(subject, estimator, rows, n_rows, explain=explain)
    except (ValueError, TypeError) as error:
        # A row without values is learned from, among others, and a table of Dask by parts.
        if "has no value to measure" not in str(error) and IN_MEMORY not in str(error):
            raise WrongResult(f"Rows that were learned are rejected: {error}") from error
        raise


def _n_rows(rows: Any) -> int:
    """Return the number of rows, -1 if that cannot be said; no result has so many."""
    try:
        return rows.shape[0] if hasattr(rows, "shape") and not hasattr(rows, "dask") else len(rows)
    except (TypeError, IndexError):
        return -1


# Queries


METHODS = (
    "predict", "predict_proba", "explain", "kneighbors", "transform", "score", "explain_one", "decision",
    "certainties", "novelties", "reasons", "all",
)  # fmt: skip


def query_case(source: Source) -> tuple[str, Action]:
    """Ask a fitted estimator about hostile rows."""
    subject = source.choose(SUBJECTS)
    method = source.choose(("all", *(m for m in METHODS if hasattr(subject.cls, m))))
    change, numbers = _values(source, honest_queries(), 65)
    container, rows = _container(source, numbers, 60)
    explain = source.chance(40)
    name = f"{subject.name}.{method}({container} of {change.__name__})"
    usual = container in containers.EQUAL and change in values.ORDINARY

    def action() -> None:
        estimator = fitted(subject)
        before = _bits(rows)
        try:
            if method == "score":
                require(
                    0 <= estimator.score(rows, np.resize([0, 1, 2], max(_n_rows(numbers), 0))) <= 1,
                    "A score not in [0, 1].",
                )
            elif method != "all":
                getattr(estimator, method)(rows)
            elif container not in READ_ONCE:
                n_rows = _n_rows(numbers if container in containers.EQUAL else rows)
                check_results(subject, estimator, rows, n_rows, explain=explain)
                if container in containers.EQUAL:
                    compare()
        except Exception as error:
            _check_not_modified(rows, before)
            check_unchanged(subject, estimator, True)
            if usual and method != "explain_one" and isinstance(error, ValueError | TypeError):
                raise WrongResult(f"Ordinary rows are rejected: {error}") from error
            raise
        _check_not_modified(rows, before)
        check_unchanged(subject, estimator, True)

    def compare() -> None:
        plain = numbers.astype(float)
        expected = _attempt(lambda: _result(subject, fitted(subject), plain))
        require(expected is not None, "The same rows are rejected as an array.")
        require(same(_result(subject, fitted(subject), rows), expected), "Other results than for an array.")
        if subject.is_plain and not np.isnan(plain).any():
            check_reference(fitted(subject), plain)

    return name, action


# Parameters and arguments


def parameter_case(source: Source) -> tuple[str, Action]:
    """Set parameters to hostile values, and fit."""
    subject = source.choose(SUBJECTS)
    known = sorted(subject.make().get_params(deep=False))
    changes: dict[str, Any] = {}
    if known:
        for _ in range(1 + source.chance(25)):
            parameter = source.choose(known)
            changes[parameter] = source.choose(values_of(parameter))
    save = source.chance(30)
    name = f"{subject.name}({', '.join(f'{key}={value!r:.60}' for key, value in changes.items())}).fit"

    def action() -> None:
        estimator = subject.make(**changes)
        before = {key: repr(value) for key, value in changes.items()}
        X, y = honest_rows()
        try:
            estimator.fit(X, y)
        except Exception:
            check_unchanged(subject, estimator, False)
            raise
        now = {key: repr(value) for key, value in estimator.get_params(deep=False).items() if key in before}
        require(now == before, f"fit has changed the parameters: {before}, {now}.")
        check_results(subject, estimator, honest_queries(), 5, explain=True)
        if save:
            check_saved(subject, estimator, honest_queries(), usual=False)

    return name, action


def argument_case(source: Source) -> tuple[str, Action]:
    """Call a method with honest rows and another argument that is hostile."""
    subject = source.choose(SUBJECTS)
    X = honest_queries()
    value = source.choose(HOSTILE)
    options: dict[str, Callable[[Any], Any]] = {
        "kneighbors": lambda e: e.kneighbors(X, value),
        "kneighbors without rows": lambda e: e.kneighbors(None, value),
        "explain ids": lambda e: e.explain(X, ids=value),
        "explain leave_out": lambda e: e.explain(X, leave_out=value),
        "score": lambda e: e.score(X, value),
        "forget": lambda e: copy.deepcopy(e).forget(value),
        "with_vote": lambda e: e.with_vote(value),
        "with_target cost": lambda e: e.with_target(cost=value),
        "with_target coverage": lambda e: e.with_target(coverage=value),
        "with_target risk": lambda e: e.with_target(risk=value),
        "partial_fit classes": lambda e: subject.make().partial_fit(*honest_rows(), value),
        "get_feature_names_out": lambda e: e.get_feature_names_out(value),
        # Without labels, scikit-learn does not give them to fit.
        "fit_transform": lambda e: subject.make().fit_transform(
            honest_rows()[0], [] if value is None else value
        ),
    }
    method = source.choose([m for m in options if _has_argument(subject, *m.split()[:2])] or ["fit"])
    name = f"{subject.name}.{method}({value!r:.60})"

    def action() -> None:
        estimator = fitted(subject)
        try:
            if method in options:
                options[method](estimator)
        finally:
            check_unchanged(subject, estimator, True)

    return name, action


def _has_argument(subject: Subject, method: str, argument: str = "") -> bool:
    """Return whether an estimator has a method and, if one is named, an argument."""
    function = getattr(subject.cls, method, None)
    known = {} if function is None else inspect.signature(function).parameters
    return function is not None and (argument in ("", "without") or argument in known)


def unfitted_case(source: Source) -> tuple[str, Action]:
    """Call a method before fit."""
    subject = source.choose(SUBJECTS)
    method = source.choose(
        [m for m in (*METHODS, "get_feature_names_out", "gather") if hasattr(subject.cls, m)]
    )
    _, rows = _container(source, honest_queries(), 30)

    def action() -> None:
        function = getattr(subject.make(), method)
        arguments = {"score": (rows, np.zeros(5)), "get_feature_names_out": (), "gather": ()}.get(
            method, (rows,)
        )
        function(*arguments)
        raise WrongResult(f"{method} returns before fit.")

    return f"{subject.name}().{method}", action


# Updates


def update_case(source: Source) -> tuple[str, Action]:
    """Add hostile rows to a fitted or new estimator."""
    subject = source.choose([s for s in SUBJECTS if hasattr(s.cls, "partial_fit")])
    methods = [m for m in ("partial_fit", "test_then_train") if hasattr(subject.cls, m)]
    method, is_new = source.choose(methods), source.chance(20)
    X, y = honest_rows()
    change, numbers = _values(source, X[:12], 55)
    container, rows = _container(source, numbers, 40)
    label = source.choose(tuple(ALL_LABELS)) if source.chance(35) else "integers"
    y = np.resize(y, len(numbers)) if numbers.ndim else y[:12]
    target = ALL_LABELS[label](y, source)
    explain, save = source.chance(30), source.chance(30)
    name = (
        f"{subject.name}.{method}({container} of {change.__name__}, {label}, {'new' if is_new else 'fitted'})"
    )

    def action() -> None:
        estimator = subject.make() if is_new else copy.deepcopy(fitted(subject))
        before = _bits(rows), _bits(target)
        try:
            getattr(estimator, method)(rows, target)
        except Exception:
            _check_not_modified(rows, before[0])
            check_unchanged(subject, estimator, not is_new)
            raise
        _check_not_modified(rows, before[0])
        if container not in READ_ONCE and len(estimator.classes_) > 1:
            n_rows = _n_rows(numbers if container in containers.EQUAL else rows)
            _check_learned(subject, estimator, rows, n_rows, explain=explain)
            if save:
                check_saved(subject, estimator, honest_queries()[:, : estimator.n_features_in_])

    return name, action


def forget_case(source: Source) -> tuple[str, Action]:
    """Let a classifier forget rows, in steps, and add others; it predicts at any time."""
    subject = source.choose([s for s in SUBJECTS if hasattr(s.cls, "forget")])
    X, _ = honest_rows()
    steps = [
        (source.choose(("forget", "add", "both")), source.integer(45), source.integer(20), source.integer(3))
        for _ in range(1 + source.integer(5))
    ]
    save = source.chance(30)

    def action() -> None:
        estimator = copy.deepcopy(fitted(subject))
        for kind, start, size, label in steps:
            if kind != "add":
                estimator.forget(estimator.model_.arrivals[start : start + size])
            if kind != "forget":
                rows = X[start : start + size + 1]
                estimator.partial_fit(rows, np.full(len(rows), label))
            check_results(subject, estimator, honest_queries(), 5, explain=True)
        if save:
            check_saved(subject, estimator, honest_queries())

    return f"{subject.name}: {steps}", action


# Tables


def _rename(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return a table with other columns."""
    names = list(frame.columns)
    changed: list[Callable[[], pd.DataFrame]] = [
        lambda: frame[names[::-1]], lambda: frame[names[:-1]], lambda: frame.assign(more=1.0),
        lambda: frame.rename(columns={"a": "x"}), lambda: frame.rename(columns={"a": "b"}),
        lambda: frame.set_axis(range(len(names)), axis=1), lambda: frame[[*names[:-1], names[0]]],
        lambda: frame.rename(columns={"a": "A"}), lambda: frame.iloc[:0], lambda: frame.iloc[:, :0],
        lambda: frame.set_axis([None] * len(names), axis=1), lambda: frame.T,
        lambda: frame.set_axis(pd.MultiIndex.from_product([["t"], names]), axis=1),
    ]  # fmt: skip
    return source.choose(changed)()


CELLS: tuple[Any, ...] = (
    None, np.nan, pd.NA, pd.NaT, np.inf, -np.inf, 1e300, -1, 0, 10**400, 2**63, "", "red", "unseen",
    "1", "nan", "\ud800", "x\x00", b"red", True, (1,), [1], {}, object(), pd.Timestamp("2020"), "2020-01-01",
    1j, pd.Timestamp("2020", tz="UTC"), pd.Timestamp("1677-09-22"), pd.Timestamp.max, np.datetime64("NaT"),
)  # fmt: skip
TYPES: tuple[Any, ...] = (
    "float32", "float16", "object", "str", "string", "category", "int8", "bool", "datetime64[ns]", "Float64",
    "datetime64[s]", "complex", "timedelta64[ns]", "boolean", "Int64", "string[pyarrow]", "double[pyarrow]",
)  # fmt: skip


def _edit_table(frame: pd.DataFrame, source: Source) -> pd.DataFrame:
    """Return a table with other cells, or a column of another type."""
    column = source.choose(list(frame.columns))
    if source.chance(50):
        values = frame[column].astype(object)
        for _ in range(1 + source.integer(2)):
            values.iat[source.integer(len(frame))] = source.choose(CELLS)
        return frame.assign(**{column: values})
    if source.chance(20):
        cells = np.empty(len(frame), object)
        cells[:] = [source.choose(CELLS)] * len(frame)
        return frame.assign(**{column: pd.Series(cells, frame.index, dtype=object)})
    converted = _attempt(lambda: frame[column].astype(source.choose(TYPES)))
    return frame if converted is None else frame.assign(**{column: converted})


def table_case(source: Source) -> tuple[str, Action]:
    """Ask an estimator that was fitted to a table about a table that differs; or fit to that."""
    subject = source.choose([*SUBJECTS, *(s for s in SUBJECTS if s.takes_tables)])
    X, y = honest_rows()
    frame = honest_table(12)[0] if subject.takes_tables else pd.DataFrame(X[:12], columns=list("abcd"))
    to_fit = subject.takes_tables and source.chance(40)
    if to_fit:
        frame, y = honest_table()
    kind = source.choose(("names", "cells", "cells", "both", "polars"))
    if kind == "polars":
        import polars as pl

        edited: Any = pl.from_pandas(frame)
    else:
        edited = _edit_table(frame, source) if kind != "names" else frame
        edited = _rename(edited, source) if kind in ("names", "both") else edited
    explain, save = source.chance(50), source.chance(30)

    def action() -> None:
        estimator = subject.make() if to_fit else fitted_to_table(subject)
        before = _bits(edited)
        if to_fit:
            estimator.fit(edited, y)
        check = _check_learned if to_fit else check_results
        check(subject, estimator, edited, len(edited), explain=explain)
        if save and to_fit:
            check_saved(subject, estimator, edited)
        if before is not None:
            require((edited.map(repr) == before.map(repr)).all(axis=None), "The table was modified.")

    shown = "" if kind == "polars" else f": {dict(edited.dtypes.astype(str))}"
    return f"{subject.name}, {'fit to' if to_fit else 'asked about'} a table ({kind}{shown:.200})", action


# Functions of lann.explain


def function_case(source: Source) -> tuple[str, Action]:
    """Call the functions of lann.explain with hostile arguments."""
    from lann import explain as functions

    subject = source.choose([s for s in SUBJECTS if hasattr(s.cls, "kneighbors") and "dist" not in s.name])
    change, numbers = _values(source, honest_queries(), 40)
    container, rows = _container(source, numbers, 40)
    value = source.choose(HOSTILE)
    y = np.resize([0, 1, 2], max(_n_rows(numbers), 0)) if numbers.ndim else None
    calls: dict[str, Callable[[Any], Any]] = {
        "counterfactuals": lambda e: functions.counterfactuals(e, rows, max_features=2).to_dict(),
        "counterfactuals target": lambda e: functions.counterfactuals(e, rows, target=value),
        "counterfactuals frozen": lambda e: functions.counterfactuals(e, rows, frozen=value),
        "counterfactuals max_features": lambda e: functions.counterfactuals(e, rows, max_features=value),
        "counterfactuals integers": lambda e: functions.counterfactuals(e, rows, integers=value),
        "counterfactuals n_candidates": lambda e: functions.counterfactuals(e, rows, n_candidates=value),
        "counterfactuals data": lambda e: functions.counterfactuals(e, rows, data=value),
        "nearest_other_class": lambda e: functions.nearest_other_class(e, rows),
        "nearest_other_class target": lambda e: functions.nearest_other_class(e, rows, target=value),
        "influence": lambda e: functions.influence(e, [0, 1], rows),
        "influence rows": lambda e: functions.influence(e, value, rows),
        "prototypical_rows": lambda e: functions.prototypical_rows(e, rows, y),
        "prototypical_rows y": lambda e: functions.prototypical_rows(e, rows, value),
        "suspicious_rows": lambda e: functions.suspicious_rows(e, n_neighbors=value),
        "query_relevances": lambda e: functions.query_relevances(e, rows),
        "class_relevances": lambda e: functions.class_relevances(e),
        "summarize": lambda e: functions.summarize(e.explain(rows), value),
        "relevance_clusters": lambda e: functions.relevance_clusters(e.explain(rows), value),
    }
    call = source.choose(tuple(calls))

    def action() -> None:
        estimator = fitted(subject)
        calls[call](estimator)
        check_unchanged(subject, estimator, True)

    return f"{call}({subject.name}, {container} of {change.__name__}, {value!r:.60})", action


# Those with most to find are listed several times.
FAMILIES: tuple[Callable[[Source], tuple[str, Action]], ...] = (
    *(fit_case,) * 3,
    *(query_case,) * 4,
    *(parameter_case, update_case, table_case) * 2,
    argument_case,
    unfitted_case,
    forget_case,
    function_case,
)


def make_case(source: Source) -> tuple[str, Action]:
    """
    Return what is tried, as text, and the action that tries it.

    Parameters
    ----------
    source
        Makes the choices.
    """
    return source.choose(FAMILIES)(source)

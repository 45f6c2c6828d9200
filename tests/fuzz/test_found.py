"""What the harness has found, one by one: each is now one sentence, or a result."""

import re
import warnings
from fractions import Fraction

import dask.dataframe
import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier, LANNEmbedding
from lann._support.validation import Number
from lann.baselines import DANN, GRLVQ, LMNN, MultiMetricLMNN
from lann.distributed import LANNClassifier as DistributedClassifier
from lann.embedding import DiscriminantPlane
from lann.explain import counterfactuals, influence, nearest_other_class
from lann.reject import RejectOption
from lann.streams import SAMKNN
from tests.fuzz.inputs.subjects import SUBJECTS, fitted, honest_queries, honest_rows, honest_table
from tests.fuzz.outcomes import why_not_rejected

X, y = honest_rows()
QUICK = {"max_iter": 2, "random_state": 0}
SUBJECT = next(subject for subject in SUBJECTS if subject.name == "LANNClassifier")
REJECT = next(subject for subject in SUBJECTS if subject.name == "RejectOption")


def with_object(value):
    objects = X.astype(object)
    objects[0, 0] = value
    return objects


def table_with(column, value):
    frame, labels = honest_table()
    cells = frame[column].astype(object)
    cells.iat[0] = value
    return frame.assign(**{column: cells}), labels


def classifier():
    return fitted(SUBJECT)


def half():
    return np.array(["\ud800", "b", "c"])[y]


REJECTED = {
    "integer in an array": (lambda: LMNN(max_iter=1).fit(with_object(10**400), y), "too large for float64"),
    "integer in a stream": (lambda: SAMKNN().partial_fit(with_object(10**400), y), "too large for float64"),
    "integer in a table": (
        lambda: LANNClassifier().fit(*table_with("a", 10**400)),
        "infinite value|too large",
    ),
    "long durations": (
        lambda: fitted(REJECT).predict(np.full((2, 4), 10**17).astype("m8[D]")),
        "times that are too long ago",
    ),
    "dates as labels": (lambda: SAMKNN().fit(X, y).partial_fit(X, y.astype("M8[D]")), "of another type"),
    "text as labels": (
        lambda: LANNClassifier(**QUICK).fit(X, y).partial_fit(X, np.array(list("abc"), object)[y]),
        "of another type",
    ),
    "half a character in labels": (lambda: LANNClassifier().fit(X, half()), "surrogate"),
    "half a character in labels of a stream": (lambda: SAMKNN().partial_fit(X, half()), "surrogate"),
    "half a character in cells": (lambda: LANNClassifier().fit(*table_with("color", "\ud800")), "surrogate"),
    "half a character in names": (
        lambda: LMNN().fit(pd.DataFrame(X, columns=pd.Index([*"abc", "\ud800"], dtype=object)), y),
        "surrogate",
    ),
    "Dask": (lambda: LANNClassifier().fit(dask.dataframe.from_pandas(pd.DataFrame(X)), y), "table of Dask"),
    "Dask in a reject option": (
        lambda: RejectOption().fit(dask.dataframe.from_pandas(pd.DataFrame(X)), y),
        "table of Dask",
    ),
    "Dask without columns": (
        lambda: DistributedClassifier().fit(dask.dataframe.from_pandas(pd.DataFrame(index=range(60))), y),
        "got 0 columns",
    ),
    "module": (lambda: LANNClassifier().fit(np, y), "float"),
    "dictionary": (lambda: LANNEmbedding().fit({"a": X}, y), "X must be an array or a table"),
    "list as estimator": (lambda: RejectOption(estimator=[1]).fit(X, y), "estimator must be a classifier"),
    "array as n_jobs": (lambda: LMNN(n_jobs=np.eye(4)).fit(X, y), "n_jobs must be"),
    "fraction": (lambda: LMNN(alpha=Fraction(1, 2)).fit(X, y), "alpha must be a number"),
    "huge integer as a number": (lambda: DANN(alpha=10**30).fit(X, y), r"alpha must be .* below 2\*\*62"),
    "huge number": (lambda: LMNN(alpha=10**400).fit(X, y), "alpha must be a number"),
    "huge integer": (lambda: SAMKNN(min_window_size=2**63).fit(X, y), r"below 2\*\*62"),
    "huge window": (lambda: SAMKNN(window_size=2**61).fit(X, y), "lower window_size"),
    "vote": (lambda: classifier().with_vote([0, 1]), "vote must be a VoteChoice"),
    "leave_out": (lambda: classifier().explain(X, leave_out=np.eye(3)), "leave_out must be"),
    "frozen": (lambda: counterfactuals(classifier(), X[:2], frozen=np.array(3)), "frozen must be a list"),
    "frozen, nested": (lambda: counterfactuals(classifier(), X[:2], frozen=np.eye(3)), "frozen must have"),
    "target": (lambda: nearest_other_class(classifier(), X[:2], target=pd.NA), "target must be one of"),
    "rows": (lambda: influence(classifier(), np.eye(4), X[:2]), "rows must be different rows"),
    "no classes": (lambda: LANNClassifier(**QUICK).partial_fit(X, y, []), "classes must have at least one"),
    "ragged row": (lambda: SAMKNN().fit(X, y).explain_one([[1.0], [1.0, 2.0], []]), "inhomogeneous"),
    "ragged groups": (lambda: MultiMetricLMNN(groups=[[1], [1, 2]]).fit(X, y), "groups must be"),
    "ragged init": (lambda: LMNN(init=[[1], [1, 2]]).fit(X, y), "init must be"),
    "ragged categorical_features": (
        lambda: LANNClassifier(categorical_features=[[1], [1, 2]]).fit(X, y),
        "categorical_features must be",
    ),
    "labels of a plane": (
        lambda: DiscriminantPlane().fit(X, np.array(["a", None, 1], object)[y]),
        "labels of several types",
    ),
}


@pytest.mark.parametrize(("action", "message"), REJECTED.values(), ids=REJECTED)
def test_rejected_with_one_sentence(action, message):
    with pytest.raises((ValueError, TypeError)) as raised:
        action()
    assert re.search(message, str(raised.value))
    assert why_not_rejected(raised.value) is None


def test_index_of_tuples():
    index = pd.Index([("a", row) for row in range(len(X))], tupleize_cols=False)
    clf = LANNClassifier(**QUICK).fit(pd.DataFrame(X, index=index), y)
    clf.partial_fit(pd.DataFrame(X[:3], index=index[:3]), y[:3])
    assert clf.ids_[0] == "('a', 0)"


def test_float16_in_a_table():
    frame, labels = honest_table()
    clf = LANNClassifier(**QUICK).fit(frame, labels)
    halves = frame.assign(known=frame["known"].astype(np.float16))
    np.testing.assert_array_equal(clf.predict_proba(halves), clf.predict_proba(frame))


def test_more_targets_than_rows():
    few = LMNN(max_iter=2, n_targets=len(X)).fit(X, y)
    many = LMNN(max_iter=2, n_targets=2**40).fit(X, y)
    np.testing.assert_array_equal(many.predict_proba(honest_queries()), few.predict_proba(honest_queries()))


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_any_tolerance():
    assert LMNN(max_iter=2, tol=1e300).fit(X, y).score(X, y) > 0.8


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_tolerance_in_single_precision():
    assert GRLVQ(tol=np.float32(0.5), **QUICK).fit(X, y).score(X, y) > 0.8


def test_a_plane_is_unchanged_after_a_fit_that_raises():
    plane = DiscriminantPlane()
    with pytest.raises(ValueError, match="one class"):
        plane.fit(X, np.zeros(len(X)))
    assert not hasattr(plane, "n_features_in_")


@pytest.mark.parametrize("n_different", [1, 2])
def test_equal_rows_of_dann_have_no_distance(n_different):
    """Rows of a class that are equal have no variance, though their mean is rounded."""
    rows = X[np.arange(len(X)) % n_different]
    np.testing.assert_array_equal(DANN().fit(rows, y).kneighbors(rows[:4])[0], 0.0)


def test_equal_large_rows_of_dann_have_no_distance():
    """Rounding of the means of large rows is no variance, and no difference between classes."""
    rows = np.full(X.shape, 1e100)
    np.testing.assert_array_equal(DANN().fit(rows, y).kneighbors(rows[:4])[0], 0.0)


def test_categories_that_are_forgotten():
    """Only rows remain whose categories are gaps."""
    frame, labels = honest_table()
    kept = frame["color"].isna().to_numpy()
    clf = LANNClassifier(**QUICK).fit(frame, labels)
    clf.forget(np.flatnonzero(~kept))
    assert len(clf.model_.X) == kept.sum() > 0
    assert np.isfinite(clf.explain(frame[:4]).supports).all()


def test_single_precision_is_compared_with_large_bounds():
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        assert Number(0, 1e100).accepts(np.float32(0.5))
        assert not Number(0, 1e-100).accepts(np.float32(0.5))


def test_classes_of_nan_are_one_sentence_without_a_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ValueError, match=r"Input contains NaN\."):
            LANNClassifier(**QUICK).fit(X, y).partial_fit(X, y, np.full((4, 4), np.nan))

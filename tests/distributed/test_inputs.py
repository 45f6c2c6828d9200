"""Arrays and tables in blocks: kinds of columns, unknown lengths, and one sentence for what does not fit."""

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import lann
from lann.distributed import DaskLANN
from tests.conftest import make_passengers


def quick(**changes):
    return DaskLANN(**({"random_state": 0, "max_iter": 2} | changes))


@pytest.fixture(scope="module")
def table():
    """A table with features of all kinds and gaps, in blocks: also some without a value of "Town"."""
    frame, y = make_passengers(300)
    frame = frame.sort_values("Age", na_position="last")
    y = pd.Series(y, index=frame.index)
    frame.iloc[:80, 4] = None
    return (
        frame,
        y,
        dd.from_pandas(frame, npartitions=4, sort=False),
        dd.from_pandas(y, npartitions=4, sort=False),
    )


@pytest.fixture(scope="module")
def fitted(table):
    return quick().fit(table[2], table[3])


def test_tables_have_the_schema_of_the_whole_table(fitted, table):
    frame, y, _, _ = table
    ordinary = lann.LANNClassifier(max_iter=0).fit(frame, y)
    assert fitted.schema_ == ordinary.schema_
    assert list(fitted.feature_names_in_) == list(frame.columns)
    np.testing.assert_array_equal(fitted.gather().model_.X, ordinary.model_.X)


def test_tables_are_predicted_as_by_the_gathered_classifier(fitted, table):
    frame, y, blocks, _ = table
    probabilities = fitted.predict_proba(blocks)
    assert np.isnan(probabilities.shape[0])
    gathered = fitted.gather()
    np.testing.assert_array_equal(probabilities.compute(), gathered.predict_proba(frame))
    assert fitted.predict(blocks).compute().tolist() == gathered.predict(frame).tolist()
    assert (fitted.predict(frame) == y).mean() > 0.8


def test_a_feature_without_values_is_ignored():
    rng = np.random.default_rng(0)
    y = np.arange(200) % 2
    X = np.column_stack([rng.normal(size=200) + 2 * y, np.full(200, np.nan)])
    with pytest.warns(UserWarning, match="without any value"):
        clf = quick().fit(blocks(X, 100), blocks(y, 100))
    assert [feature.kind for feature in clf.schema_.features] == ["number", "empty"]
    queries = X.copy()
    queries[:, 1] = np.arange(200)
    assert (clf.predict(blocks(queries, 100)).compute() == y).mean() > 0.8
    table = pd.DataFrame(X, columns=["a", "b"]).assign(c="u")
    with pytest.warns(UserWarning, match="without any value"):
        clf = quick().fit(dd.from_pandas(table, npartitions=2), blocks(y, 100))
    assert [feature.kind for feature in clf.schema_.features] == ["number", "empty", "category"]


def test_queries_with_unseen_categories_and_new_gaps(fitted, table):
    queries = table[0][100:106].copy()
    queries.iloc[0, 4] = "Wien"
    queries.iloc[1, 3] = np.nan
    expected = fitted.gather().predict_proba(queries)
    np.testing.assert_array_equal(fitted.predict_proba(queries), expected)
    in_blocks = dd.from_pandas(queries, npartitions=2, sort=False)
    np.testing.assert_array_equal(fitted.predict_proba(in_blocks).compute(), expected)
    explanation = fitted.explain(queries)
    assert explanation.row(1).unmeasured.any()
    assert explanation.row(0).unseen.any()


@pytest.mark.filterwarnings("ignore:Dask currently has limited support")
def test_chunks_of_unknown_length(table):
    numbers = table[2][["Age", "Fare"]]
    clf = quick().fit(numbers.values, table[3].values)
    assert clf.n_samples_fit_ == 300
    assert not hasattr(clf, "feature_names_in_")
    np.testing.assert_array_equal(
        clf.predict(numbers.values).compute(), clf.predict(table[0][["Age", "Fare"]].to_numpy())
    )


def test_blocks_without_rows(table):
    frame = table[0].assign(label=table[1])
    in_blocks = dd.from_pandas(frame, npartitions=4, sort=False)
    kept = in_blocks[in_blocks["Age"] > frame["Age"].median()]
    rows = kept.drop(columns="label")
    with pytest.raises(ValueError, match="A block of X has"):
        quick().fit(rows, in_blocks["label"])
    clf = quick().fit(rows, kept["label"])
    assert 0 in rows.map_partitions(len).compute().tolist()
    assert clf.n_samples_fit_ == len(rows)
    expected = clf.gather().predict_proba(rows.compute())
    np.testing.assert_array_equal(clf.predict_proba(rows).compute(), expected)


def test_categories_named_by_position(table):
    y = table[1].to_numpy()
    codes = np.column_stack([np.arange(300) % 3, np.arange(300) / 50.0])
    blocks = da.from_array(codes, chunks=(100, 2))
    clf = quick(categorical_features=[0]).fit(blocks, y)
    assert [feature.kind for feature in clf.schema_.features] == ["category", "number"]
    assert clf.schema_.features[0].categories == ("0", "1", "2")
    np.testing.assert_array_equal(clf.predict_proba(blocks).compute(), clf.gather().predict_proba(codes))


X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) % 2


def blocks(array, size=10):
    return da.from_array(array, chunks=(size, *array.shape[1:]))


def frame_of(array):
    return dd.from_pandas(pd.DataFrame(array, columns=["a", "b"]), npartitions=2, sort=False)


def series_of(labels, dtype=None):
    return dd.from_pandas(pd.Series(labels * 5, dtype=dtype), npartitions=2, sort=False)


def mixed_frame():
    first = pd.DataFrame({"a": [1.0, 2.0], "b": ["x", "y"]}, dtype=object)
    second = pd.DataFrame({"a": ["u", "v"], "b": ["x", "y"]}, dtype=object)
    parts = [first] * 3 + [second] * 3
    with_objects = dd.from_map(lambda part: part, parts, meta=first)
    return with_objects, np.tile([0, 1], 6)


@pytest.mark.parametrize(
    ("rows", "labels", "message"),
    [
        (blocks(X), blocks(Y[:15]), "X has 20 rows and y has 15 labels"),
        (blocks(X), Y[:15], "X has 20 rows and y has 15 labels"),
        (blocks(X), None, "y should be a 1d array"),
        (blocks(X), blocks(np.zeros(20)), "one class only"),
        (blocks(X), blocks(np.where(Y, 1.0, np.nan)), "missing labels"),
        (frame_of(X), series_of(["u", "v", None, "v"]), "missing labels"),
        (frame_of(X), series_of(["u", "v", pd.NA, "v"], "string"), "missing labels"),
        (blocks(X), blocks(np.array([1, None] * 10, object)), "missing labels"),
        (blocks(X), blocks(np.linspace(0.1, 1.7, 20)), "continuous"),
        (blocks(X)[:, 0], blocks(Y), "two dimensions"),
        (blocks(X), blocks(np.zeros((20, 2))), "one dimension"),
        (blocks(np.where(X == 3, np.inf, X)), blocks(Y), "infinity"),
        (blocks(np.full((20, 2), np.nan)), blocks(Y), "no value in any row"),
        (blocks(X * 1e200), blocks(Y), "too large to be squared"),
        (blocks(X)[:0], blocks(Y)[:0], "no rows"),
    ],
)
def test_invalid_data_raise_one_sentence(rows, labels, message):
    with pytest.raises(ValueError, match=message):
        quick().fit(rows, labels)


def test_tables_whose_lengths_are_unknown_need_labels_in_the_same_blocks(table):
    with pytest.raises(ValueError, match="lengths of the blocks of X are not known"):
        quick().fit(table[2], table[1].to_numpy())
    with pytest.raises(ValueError, match="X has 4 blocks and y has 2"):
        quick().fit(table[2], dd.from_pandas(table[1], npartitions=2, sort=False))


def test_columns_with_values_of_several_types_raise_one_sentence():
    import dask

    with dask.config.set({"dataframe.convert-string": False}):
        rows, labels = mixed_frame()
        labels = da.from_array(labels, chunks=2)
        with pytest.raises(ValueError, match="'a' has values of different types in different blocks"):
            quick().fit(rows, labels)


def test_queries_that_do_not_fit_raise_one_sentence(fitted, table):
    with pytest.raises(ValueError, match="feature names should match"):
        fitted.predict(table[2][["Age", "Sex"]])
    clf = quick().fit(blocks(X), blocks(Y))
    with pytest.raises(ValueError, match="3 features"):
        clf.predict(blocks(np.zeros((4, 3))))
    with pytest.raises(ValueError, match="n_neighbors=21"):
        clf.kneighbors(X, 21)
    with pytest.raises(ValueError, match="rows in memory"):
        clf.explain(blocks(X))
    with pytest.raises(ValueError, match="leave_out"):
        clf.explain(X, leave_out=[1])


def test_invalid_parameters_raise_one_sentence():
    with pytest.raises(ValueError, match="rows_per_shard must be an integer of at least 1; got 0"):
        quick(rows_per_shard=0).fit(X, Y)

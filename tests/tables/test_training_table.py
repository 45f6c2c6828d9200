import numpy as np
import pandas as pd
import pytest
from sklearn import config_context

from lann.tables import TableWarning, TrainingTable, cross_validate


def kinds_of(table):
    return {column.name: column.kind for column in table.columns}


def test_how_columns_are_used(frame, table_warnings):
    frame["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(np.arange(80) % 7, "D")
    table, messages = table_warnings(TrainingTable.from_frame, frame, "group")
    assert kinds_of(table) == {
        "name": "ignored",
        "size [cm]": "number",
        "color": "category",
        "member": "bool",
        "noise": "number",
        "empty": "ignored",
        "constant": "ignored",
        "day": "date",
    }
    assert messages == [
        "Column 'name' is ignored: it is text with a different value in most rows (80 values). If it names "
        "the rows, give it as id (--id).",
        "Column 'empty' is ignored: it is empty.",
        "Column 'constant' is ignored: it has the same value in every row.",
    ]
    assert list(table.rows) == ["size [cm]", "color", "member", "noise", "day"]
    assert [dtype.kind for dtype in table.rows.dtypes] == ["f", "O", "b", "f", "M"]


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_named_and_dropped_columns(frame):
    table = TrainingTable.from_frame(frame, "group", id="name", drop=["noise", "color"])
    assert list(table.rows) == ["size [cm]", "member"]
    assert table.rows.index[:2].tolist() == ["p0", "p1"]
    dropped = {column.name: column.reason for column in table.columns}
    assert dropped["noise"] == "it is dropped"
    record = table.fit().record
    assert (record.target, record.id_column, record.sample_weight_column) == ("group", "name", None)
    assert [column["name"] for column in record.columns] == list(table.rows)
    assert set(record.ignored) == {"noise", "color", "empty", "constant"}


def test_kinds_that_the_user_names():
    n_rows = 24
    frame = pd.DataFrame(
        {
            "code": [str(row % 3) for row in range(n_rows)],
            "day": [f"{row % 9 + 1}/{row % 7 + 1}/2024" for row in range(n_rows)],
            "note": [f"note {row}" for row in range(n_rows)],
            "y": ["u", "v"] * (n_rows // 2),
        }
    )
    kinds = {"code": "category", "day": "%d/%m/%Y", "note": "category"}
    table = TrainingTable.from_frame(frame, "y", kinds=kinds)
    assert kinds_of(table) == {"code": "category", "day": "date", "note": "category"}
    assert table.rows["day"][9] == pd.Timestamp(2024, 3, 1)
    with pytest.raises(ValueError, match="the kind of the target must be"):
        TrainingTable.from_frame(frame, "y", kinds={"y": "date"})
    with pytest.raises(ValueError, match="named in both id and kinds"):
        TrainingTable.from_frame(frame, "y", id="code", kinds={"code": "category"})
    with pytest.raises(ValueError, match=r"The kind of column 'code' must be 'category'.*got 'text'"):
        TrainingTable.from_frame(frame, "y", kinds={"code": "text"})
    with pytest.raises(ValueError, match="no column 'z' in the table for kinds"):
        TrainingTable.from_frame(frame, "y", kinds={"z": "category"})


def test_errors_name_the_row_of_the_table():
    """Also if rows before it have no label."""
    frame = pd.DataFrame({"a": ["1", "2", "x", "4", "5"], "y": [None, "u", "v", "u", "v"]})
    with (
        pytest.warns(TableWarning, match="no 'y'"),
        pytest.raises(ValueError, match=r"'a' of d\.csv must have numbers; row 2 has 'x'"),
    ):
        TrainingTable.from_frame(frame, "y", kinds={"a": "number"}, name="d.csv")


def test_rows_are_named_by_their_numbers_without_ids(two_groups):
    frame = two_groups(40)
    assert TrainingTable.from_frame(frame, "c").fit().classifier.ids_ is None
    frame["c"] = frame["c"].astype(object)
    frame.loc[3, "c"] = None
    with pytest.warns(TableWarning, match="1 row has no 'c'"):
        table = TrainingTable.from_frame(frame, "c")
    assert table.rows.index[2:5].tolist() == [2, 4, 5]
    assert table.fit().classifier.ids_[2:5].tolist() == [2, 4, 5]


def test_rows_without_a_label_are_left_out(two_groups, table_warnings):
    frame = two_groups(10)
    frame.loc[[0, 9], "c"] = np.nan
    table, messages = table_warnings(TrainingTable.from_frame, frame, "c")
    assert messages == ["2 rows have no 'c' and are left out."]
    assert table.row_numbers.tolist() == list(range(1, 9))
    frame.loc[0, "c"] = 0
    _, messages = table_warnings(TrainingTable.from_frame, frame, "c")
    assert messages == ["1 row has no 'c' and is left out."]


@pytest.mark.parametrize(
    ("columns", "options", "message"),
    [
        (
            {"a": [1, 2], "y": "uv"},
            {"target": "z"},
            "no column 'z' in d.csv for target; its other columns are 'a', 'y'",
        ),
        ({"a": [1, 2], "y": "uv"}, {"id": "z"}, "no column 'z' in d.csv for id"),
        ({"a": [1, 2], "y": "uv"}, {"drop": ["z"]}, "no column 'z' in d.csv for drop"),
        ({"a": [1, 2], "y": "uu"}, {}, "one class only, 'u'"),
        ({"a": [1, 2], "y": [None, None]}, {}, "'y' is empty in every row of d.csv"),
        ({"a": [1, 2, 3], "y": [0.5, 0.7, 0.9]}, {}, "3 different values in 3 rows"),
        ({"a": ["1", "inf"], "y": "uv"}, {}, "'a' of d.csv must have finite numbers; row 1 has 'inf'"),
    ],
)
def test_invalid_tables(columns, options, message):
    frame = pd.DataFrame({name: list(values) for name, values in columns.items()})
    with pytest.raises(ValueError, match=message):
        TrainingTable.from_frame(frame, **{"target": "y", "name": "d.csv"} | options)


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_a_table_without_a_column_to_learn_from():
    with pytest.raises(ValueError, match="no column to learn from in the table beside the target 'y'"):
        TrainingTable.from_frame(pd.DataFrame({"a": [1, 1], "y": ["u", "v"]}), "y")


def test_columns_without_a_value_in_some_rows(two_groups):
    """The rows that have one can be those that are held out, or tested in a fold."""
    frame = two_groups(40)
    columns = {"number": [1.0, 2.0], "text": ["u", "v"], "flag": [True, False]}
    columns["day"] = [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-05-31")]
    for name, values in columns.items():
        frame[name] = pd.Series(values, index=[3, 30]).reindex(frame.index)
    table = TrainingTable.from_frame(frame, "c", kinds={"text": "category"})
    assert [column.kind for column in table.columns[2:]] == ["number", "category", "bool", "date"]
    for rows in (np.setdiff1d(np.arange(40), [3, 30]), np.setdiff1d(np.arange(40), [3])):
        model = table.subset(rows).fit()
        assert model.predict(frame)["prediction"].isin([0, 1]).all()
        assert len(model.explain(frame, [3, 30])) == 2
    assert cross_validate(table, n_folds=3)["accuracy"].between(0, 1).all()


def sides(frame, training, held_out):
    """Return the values of the training rows, and those of the held-out rows."""
    assert sorted([*training.row_numbers, *held_out]) == list(range(len(frame)))
    values = frame.fillna(-1)[["a", "b"]].to_numpy()
    return tuple(set(map(tuple, values[rows])) for rows in (training.row_numbers, held_out))


def test_copies_are_held_out_together(two_groups, table_warnings):
    frame = two_groups(40)
    frame.loc[3, "b"] = np.nan
    frame = pd.concat([frame] * 3, ignore_index=True)
    (training, held_out), messages = table_warnings(TrainingTable.from_frame(frame, "c").split, 0.3)
    assert not set.intersection(*sides(frame, training, held_out))
    assert len(held_out) == 36
    assert messages == [
        "The table has copies of rows: 80 rows (67%). Copies are held out together or not at all: 36 of 120 "
        "rows are held out. Copies among the training rows vote on each other, so that accuracies on these "
        "are optimistic."
    ]


def test_copies_are_separated_if_a_class_has_nothing_else(two_groups, table_warnings):
    frame = two_groups(60)
    frame.loc[frame["c"] == 1, ["a", "b"]] = [5.0, 5.0]
    (training, held_out), messages = table_warnings(TrainingTable.from_frame(frame, "c").split, 0.3)
    assert messages == []
    assert set.intersection(*sides(frame, training, held_out)) == {(5.0, 5.0)}


def test_invalid_shares(two_groups):
    table = TrainingTable.from_frame(two_groups(10), "c")
    with pytest.raises(ValueError, match="held_out must be a number above 0 and below 1; got 1"):
        table.split(1.5)
    with pytest.raises(ValueError, match=r"held_out=0\.05 of 10 rows is too few or too many: each of the 2"):
        table.split(0.05)
    frame = two_groups(10)
    frame.loc[0, "c"] = 2
    with pytest.raises(ValueError, match="Class '2' has one row only"):
        TrainingTable.from_frame(frame, "c").split(0.3)


def test_a_column_of_weights(two_groups, table_warnings):
    frame = two_groups(40).assign(w=np.arange(40) % 3)
    table, messages = table_warnings(TrainingTable.from_frame, frame, "c", sample_weight="w")
    assert messages == ["14 rows have the weight 0 and are left out."]
    assert "w" not in table.rows
    assert table.fit().record.sample_weight_column == "w"
    kept = np.flatnonzero(frame["w"] > 0)
    np.testing.assert_array_equal(table.row_numbers, kept)
    np.testing.assert_array_equal(table.weights, frame["w"].iloc[kept])
    model = table.fit()
    np.testing.assert_array_equal(model.classifier.model_.row_weights, frame["w"].iloc[kept])
    with config_context(enable_metadata_routing=True):
        np.testing.assert_array_equal(table.fit().classifier.model_.row_weights, table.weights)
    training, held_out = table.split(0.3)
    np.testing.assert_array_equal(training.weights, frame["w"].iloc[training.row_numbers])
    assert len(training) + len(held_out) == len(kept)
    one = frame.assign(w=np.arange(40) > 0)
    _, messages = table_warnings(TrainingTable.from_frame, one, "c", sample_weight="w")
    assert messages == ["1 row has the weight 0 and is left out."]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, -2.0], "numbers of at least 0; row 1 has -2"),
        ([1.0, np.nan], "row 1 has none"),
        (["1", "much"], "row 1 has 'much'"),
        ([0, 0], "are zero in every row"),
    ],
)
def test_invalid_weights(weights, message):
    frame = pd.DataFrame({"a": [1, 2], "y": ["u", "v"], "w": weights})
    with pytest.raises(ValueError, match=rf"olumn 'w' of d\.csv .*{message}"):
        TrainingTable.from_frame(frame, "y", sample_weight="w", name="d.csv")
    with pytest.raises(ValueError, match=r"no column 'z' in d\.csv for sample_weight"):
        TrainingTable.from_frame(frame, "y", sample_weight="z", name="d.csv")

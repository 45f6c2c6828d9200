import numpy as np
import pandas as pd
import pytest

from lann.tables import TableModel, fit_baselines
from lann.tables._rows import known_labels


def test_labels_are_the_classes_by_their_text():
    classes = np.array([0, 1, 10])
    labels = known_labels(np.array(["1", "10.0", "0"], dtype=object), classes)
    assert labels.dtype == classes.dtype
    assert labels.tolist() == [1, 10, 0]
    odd = known_labels(np.array(["1", None, "2", "007"], dtype=object), classes)
    assert odd.tolist() == [1, None, "2", "007"]
    assert known_labels(np.array(["1.0"], dtype=object), np.array(["1.0", "x"])).tolist() == ["1.0"]
    assert known_labels(np.array(["1"], dtype=object), np.array([1.0, 2.0])).tolist() == [1.0]


def test_labels_in_a_table(table_model, make_table):
    frame = make_table(6, seed=1)
    assert table_model.labels_in(frame).tolist() == frame["group"].tolist()
    assert table_model.labels_in(frame.drop(columns="group")) is None
    assert table_model.labels_in(frame.assign(group=None)) is None
    renamed = frame.rename(columns={"group": "truth"})
    assert table_model.labels_in(renamed, "truth").tolist() == frame["group"].tolist()
    with pytest.raises(ValueError, match=r"no column 'grouped' in new\.csv for target; did you mean 'group'"):
        table_model.labels_in(frame, "grouped", name="new.csv")


def test_integer_labels_with_gaps():
    frame = pd.DataFrame({"x": np.arange(20.0), "y": np.repeat([0, 1], 10)})
    model = TableModel.fit(frame, "y")
    test = frame.astype({"y": float})
    test.loc[0, "y"] = np.nan
    predictions = model.predict(test)
    assert predictions["label"].tolist()[:3] == [None, 0, 0]
    explanation = model.explain(test, rows=[19, 0])
    assert explanation.true_labels.tolist() == [1, None]
    assert explanation[0].row(0).true_label == 1
    assert [row["true_label"] for row in explanation.to_dict()] == [1, None]


def test_rows_with_labels(table_model, make_table):
    frame = make_table(20, seed=1).assign(town=["Ulm", "Bonn"] * 10)
    frame.loc[[1, 4], "group"] = [None, "elsewhere"]
    rows = table_model.labeled_rows(frame)
    assert rows.row_numbers.tolist() == [0, *range(2, 20)]
    assert rows.n_left_out == 1
    assert rows.labels[3] == "elsewhere"
    assert rows.ids.tolist() == [f"p{row}" for row in rows.row_numbers]
    assert rows.weights is None
    assert [column.name for column in rows.columns] == ["size [cm]", "color", "member", "noise", "town"]
    assert list(rows.X.columns) == table_model.feature_names
    expected = frame.loc[rows.row_numbers, "noise"].to_numpy()
    np.testing.assert_array_equal(rows.values["noise"], expected)


def test_labels_and_weights_that_are_given(table_model, make_table):
    frame = make_table(12, seed=1)
    rows = table_model.labeled_rows(
        frame.drop(columns="group"), frame["group"], sample_weight=np.arange(12) % 2
    )
    assert rows.row_numbers.tolist() == [1, 3, 5, 7, 9, 11]
    assert rows.weights.tolist() == [1.0] * 6
    assert rows.labels.tolist() == frame["group"][1::2].tolist()
    with pytest.raises(ValueError, match="weights in column 'weights' of the table must be numbers"):
        table_model.labeled_rows(frame, sample_weight=[-1.0] * 12)


def test_training_rows_are_the_values_of_the_table(table_model, training_frame):
    rows = table_model.training_rows()
    expected = training_frame.drop(index=[2, 3]).reset_index(drop=True)
    for name in ("size [cm]", "noise"):
        np.testing.assert_array_equal(rows[name], expected[name])
    assert rows["color"].fillna("").tolist() == expected["color"].fillna("").tolist()
    assert rows["member"].tolist() == expected["member"].tolist()


def test_dates_are_dates_again():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=30), "y": np.arange(30) % 2})
    model: TableModel = TableModel.fit(frame, "y")
    assert model.training_rows()["day"].tolist() == frame["day"].tolist()
    labels = frame["y"].to_numpy()
    baselines = fit_baselines(model.training_rows(), labels, model.columns)
    assert baselines["kNN"].score(model.training_rows(), labels) == 1.0
    assert baselines["majority"].score(model.training_rows(), labels) == 0.5

import numpy as np
import pandas as pd
import pytest

from lann.tables import fit_baselines


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
    with pytest.raises(ValueError, match="weights in column 'sample_weight' of the table must be finite"):
        table_model.labeled_rows(frame, sample_weight=[-1.0] * 12)


def test_training_rows_are_the_values_of_the_table(table_model, training_frame):
    rows = table_model.training_rows()
    expected = training_frame.drop(index=[2, 3]).reset_index(drop=True)
    for name in ("size [cm]", "noise"):
        np.testing.assert_array_equal(rows[name], expected[name])
    assert rows["color"].fillna("").tolist() == expected["color"].fillna("").tolist()
    assert rows["member"].tolist() == expected["member"].tolist()


def test_dates_are_dates_again():
    from lann.tables import TableModel, fit_table

    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=30), "y": np.arange(30) % 2})
    model: TableModel = fit_table(frame, "y")
    assert model.training_rows()["day"].tolist() == frame["day"].tolist()
    labels = frame["y"].to_numpy()
    baselines = fit_baselines(model.training_rows(), labels, model.columns)
    assert baselines["kNN"].score(model.training_rows(), labels) == 1.0
    assert baselines["majority"].score(model.training_rows(), labels) == 0.5

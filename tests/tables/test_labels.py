import numpy as np
import pandas as pd
import pytest

from lann.tables import fit_table
from lann.tables._labels import known_labels


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
    model = fit_table(frame, "y")
    test = frame.astype({"y": float})
    test.loc[0, "y"] = np.nan
    predictions = model.predict(test)
    assert predictions["label"].tolist()[:3] == [None, 0, 0]
    explanation = model.explain(test, rows=[19, 0])
    assert explanation.true_labels.tolist() == [1, None]
    assert explanation[0].row(0).true_label == 1
    assert [row["true_label"] for row in explanation.to_dict()] == [1, None]

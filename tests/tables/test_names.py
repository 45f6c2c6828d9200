"""The nearest name to one that does not exist."""

import pandas as pd
import pytest

from lann.columns.text import check_columns_present, check_named_column, nearest_name


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Agee", "Age"), ("AGE", "Age"), (" age ", "Age"), ("heigth", "height"), ("x", None), ("", None)],
)
def test_nearest_names(name, nearest):
    assert nearest_name(name, ["Age", "height", "weight"]) == nearest


def test_the_name_in_the_same_case_comes_first():
    assert nearest_name("age", ["AGE", "ages"]) == "AGE"


def test_missing_columns():
    frame = pd.DataFrame({"Age": [1], "Sex": ["m"], "city": ["Ulm"]})
    check_columns_present(frame, ["Age", "city"], "d.csv")
    with pytest.raises(ValueError, match=r"^The column 'age' is missing in d\.csv; is it 'Age'\?$"):
        check_columns_present(frame, ["age", "city"], "d.csv")
    with pytest.raises(ValueError, match=r"'age', 'sex' are missing in d\.csv; are they 'Age', 'Sex'\?$"):
        check_columns_present(frame, ["age", "sex"], "d.csv")
    with pytest.raises(ValueError, match=r"^The columns 'age', 'zzz' are missing in d\.csv\.$"):
        check_columns_present(frame, ["age", "zzz"], "d.csv")


@pytest.mark.parametrize("parameter", ["target", "id", "drop", "sample_weight"])
def test_named_columns(parameter):
    frame = pd.DataFrame({"Age": [1], "city": ["Ulm"]})
    check_named_column(frame, "Age", parameter, "people.csv")
    with pytest.raises(
        ValueError, match=rf"^There is no column 'Agee' in people.csv for {parameter}; did you mean 'Age'\?$"
    ):
        check_named_column(frame, "Agee", parameter, "people.csv")
    with pytest.raises(ValueError, match=r"for .*; its columns are 'Age', 'city'\.$"):
        check_named_column(frame, "zzz", parameter, "people.csv")
    wide = pd.DataFrame([range(25)], columns=[f"c{j}" for j in range(25)])
    with pytest.raises(ValueError, match=r"'c19' and 5 more\.$"):
        check_named_column(wide, "zzz", parameter, "people.csv")

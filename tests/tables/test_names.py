"""The nearest name to one that does not exist."""

import pandas as pd
import pytest

from lann.tables._names import check_named_column, nearest_name


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Agee", "Age"), ("AGE", "Age"), (" age ", "Age"), ("heigth", "height"), ("x", None), ("", None)],
)
def test_nearest_names(name, nearest):
    assert nearest_name(name, ["Age", "height", "weight"]) == nearest


def test_the_name_in_the_same_case_comes_first():
    assert nearest_name("age", ["AGE", "ages"]) == "AGE"


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

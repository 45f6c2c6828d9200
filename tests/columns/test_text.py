"""What columns have, and how tables are converted."""

import json
from datetime import date
from decimal import Decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from lann.columns.text import (
    Column,
    TableWarning,
    apply_columns,
    check_has_columns,
    infer_columns,
    nearest_name,
)
from lann.tables import read_table


@pytest.fixture
def infer(table_warnings):
    """Return a function that infers columns by name, without their warnings."""

    def infer(frame, **options):
        (columns, _), _ = table_warnings(infer_columns, frame, **options)
        return {column.name: column for column in columns}

    return infer


def test_kinds_and_reasons(infer):
    frame = pd.DataFrame(
        {
            "age": ["51", "-", "48"],
            "price": ["$1,200.50", "$7.25", None],
            "share": ["35 %", "7 %", "12 %"],
            "flag": ["TRUE", "FALSE", "?"],
            "answer": ["yes", "no", "yes"],
            "day": ["31.05.2024", "01.06.2024", "."],
            "code": ["01067", "12345", "01067"],
            "sign": ["+", "-", "+"],
            "empty": ["", "NA", None],
            "same": ["5", "5.0", "?"],
            "nested": [[1], [2], [3]],
            "gone": ["a", "b", "c"],
        }
    )
    columns = infer(frame, drop=["gone"])
    assert {name: (column.kind, column.reason) for name, column in columns.items()} == {
        "age": ("number", "it has numbers"),
        "price": ("number", "it has numbers with commas between thousands and the unit $"),
        "share": ("number", "it has numbers with the unit %"),
        "flag": ("bool", "it has true and false"),
        "answer": ("category", "it has text"),
        "day": ("date", "it has dates like 31.05.2024"),
        "code": ("category", "its numbers have leading zeros, as codes have"),
        "sign": ("category", "it has text"),
        "empty": ("ignored", "it is empty"),
        "same": ("ignored", "it has the same value in every row"),
        "nested": ("ignored", "its cells are lists or other objects"),
        "gone": ("ignored", "it is dropped"),
    }
    values = apply_columns(frame, list(columns.values()))
    assert values.dtypes.map(str).to_dict() == {
        "age": "float64", "price": "float64", "share": "float64", "flag": "boolean", "answer": "object",
        "day": "datetime64[us]", "code": "object", "sign": "object",
    }  # fmt: skip
    assert values["age"].isna().tolist() == [False, True, False]
    assert values["sign"].tolist() == ["+", "-", "+"]
    assert values["code"].tolist() == ["01067", "12345", "01067"]
    shown = {
        name: [columns[name].format(value) for value in values[name]] for name in values if name != "same"
    }
    assert shown["price"] == ["$1,200.50", "$7.25", "missing"]
    assert shown["share"] == ["35 %", "7 %", "12 %"]
    assert shown["flag"] == ["TRUE", "FALSE", "missing"]
    assert shown["day"] == ["31.05.2024", "01.06.2024", "missing"]
    assert shown["age"] == ["51", "missing", "48"]


def test_descriptions_survive_json(infer, frame):
    columns = infer(
        frame.assign(day="2024-05-01", price="$5.00", flag=frame["noise"] > 0).astype({"flag": str})
    )
    for column in columns.values():
        assert Column.from_dict(json.loads(json.dumps(column.to_dict()))) == column


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "numbers"}, {"name": 5}, {"extra": 1}, {"notation": None}, {"words": ["ja", "nein"]},
        {"notation": {"decimal": "."}}, {"kind": "date"},
        {"notation": {"decimal": ".", "thousands": "", "prefix": "<b>", "suffix": "", "decimals": None}},
    ],
)  # fmt: skip
def test_invalid_descriptions(change):
    column = infer_columns(pd.DataFrame({"age": ["51.5", "48"]}))[0][0]
    with pytest.raises(ValueError, match="does not describe"):
        Column.from_dict(column.to_dict() | change)


@pytest.fixture
def table():
    """A table with all kinds of columns, and gaps."""
    n = 40
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "int": rng.integers(0, 9, n),
            "int with gaps": pd.array(rng.integers(0, 9, n), dtype="Int64"),
            "float": rng.normal(size=n),
            "text": rng.choice(["red", "green", "dark blue"], n),
            "category": pd.Categorical(rng.choice(["u", "v"], n)),
            "bool": rng.random(n) > 0.5,
            "bool with gaps": pd.array(rng.random(n) > 0.5, dtype="boolean"),
            "day": pd.date_range("2020-01-01", periods=n, freq="D"),
            "time": pd.date_range("2020-01-01", periods=n, freq="17min"),
            "zoned": pd.date_range("2020-01-01", periods=n, freq="h", tz="Europe/Berlin"),
            "level": rng.choice([1.0, 2.0, 2.5], n),
        }
    )
    frame.loc[3, ["int with gaps", "float", "text", "category", "bool with gaps", "day", "time", "zoned"]] = (
        None
    )
    return frame


@pytest.mark.parametrize("reversed_roles", [False, True])
def test_csv_and_parquet_give_the_same_values(table, reversed_roles, tmp_path, infer):
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.txt", index=False, sep="\t", decimal=",", encoding="utf-16")
    frames = {name: read_table(tmp_path / name) for name in ("t.csv", "t.parquet", "t.txt")}
    found = {
        name: tuple(infer(frame, kinds={"level": "category"}).values()) for name, frame in frames.items()
    }
    kinds = [column.kind for column in found["t.parquet"]]
    assert kinds == ["number"] * 3 + ["category"] * 2 + ["bool"] * 2 + ["date"] * 3 + ["category"]
    expected = apply_columns(frames["t.parquet"], found["t.parquet"])
    np.testing.assert_array_equal(expected["float"], table["float"])
    assert expected["zoned"][0] == pd.Timestamp("2019-12-31 23:00")
    for name in frames:
        assert [column.kind for column in found[name]] == kinds
        assert [column.name for column in found[name]] == list(table.columns)
        pd.testing.assert_frame_equal(apply_columns(frames[name], found[name]), expected)
    # Descriptions of one file are valid for the other.
    first, second = ("t.csv", "t.parquet") if reversed_roles else ("t.parquet", "t.csv")
    pd.testing.assert_frame_equal(apply_columns(frames[first], found[second]), expected)


def test_excel_and_json_lines_give_the_same_values(table, tmp_path, infer):
    table = table.drop(columns=["zoned", "category"])
    table.to_csv(tmp_path / "t.csv", index=False)
    table.to_excel(tmp_path / "t.xlsx", index=False)
    table.to_json(tmp_path / "t.jsonl", orient="records", lines=True, date_format="iso", double_precision=15)
    frame = read_table(tmp_path / "t.csv")
    columns = tuple(infer(frame).values())
    expected = apply_columns(frame, columns)
    for name in ("t.xlsx", "t.jsonl"):
        values = apply_columns(read_table(tmp_path / name), columns)
        pd.testing.assert_frame_equal(values, expected)


@pytest.mark.parametrize(
    ("cells", "later", "message"),
    [
        (["51", "48"], ["51", None, "abc"], "'c' of t.csv must have numbers; row 2 has 'abc'"),
        (["1,5", "48"], ["1,5", "1.5"], "must have numbers with decimal commas; row 1 has '1.5'"),
        (["5 %", "4 %"], ["5"], "must have numbers with the unit %; row 0 has '5'"),
        (["51", "48"], ["51", "inf"], "must have finite numbers; row 1 has 'inf'"),
        (["51", "48"], [1.0, -np.inf], "must have finite numbers; row 1 has '-inf'"),
        (["51", "48"], [True, False], "must have numbers; row 0 has 'True'"),
        (["2024-05-01", "2024-05-02"], ["?", "2024-13-45"], "dates like 2024-05-31; row 1 has '2024-13-45'"),
        (["01.05.2024", "02.05.2024"], ["31.02.2024"], "dates like 31.05.2024; row 0 has '31.02.2024'"),
        (
            ["2024-05-01", "2024-05-02"],
            list(pd.to_datetime(["2024-05-01"], utc=True)),
            "must have dates like 2024-05-31; row 0 has '2024-05-01 00:00 UTC'",
        ),
        (["2024-05-01", "2024-05-02"], [5], "dates like 2024-05-31; row 0 has '5'"),
        (["2024-05-01", "2024-05-02"], [True], "dates like 2024-05-31; row 0 has 'True'"),
        (["true", "false"], ["true", "yes"], "must have true or false; row 1 has 'yes'"),
        (["true", "false"], [1, 0], "must have true or false; row 0 has '1'"),
        (["red", "green"], [["red"]], "must have single values"),
    ],
)
def test_cells_that_do_not_fit(cells, later, message):
    columns, _ = infer_columns(pd.DataFrame({"c": cells}))
    with pytest.raises(ValueError, match=message):
        apply_columns(pd.DataFrame({"c": later}), columns, "t.csv")


def test_missing_columns(frame, infer):
    columns = list(infer(frame).values())
    with pytest.raises(
        ValueError,
        match=r"^There is no column 'noise' in t\.csv; its other columns are 'name', 'empty', 'constant'\.$",
    ):
        apply_columns(frame.drop(columns="noise"), columns, "t.csv")
    with pytest.raises(ValueError, match=r"no column 'noise' in t\.csv; did you mean 'Noise'\?$"):
        apply_columns(frame.rename(columns={"noise": "Noise"}), columns, "t.csv")
    with pytest.raises(ValueError, match=r"There is no column 'color', 'noise' in t\.csv; its"):
        apply_columns(frame.drop(columns=["color", "noise"]), columns, "t.csv")
    values = apply_columns(frame.drop(columns=["name", "empty"]), columns)
    unused = ("name", "empty", "constant")
    assert list(values) == [name for name in frame.columns if name not in unused]


def test_the_file_decides_what_is_ambiguous(tmp_path):
    for text, value in (("a;b\n1,234;x\n2,345;y\n", 1.234), ('a,b\n"1,234",x\n"2,345",y\n', 1234.0)):
        (tmp_path / "t.csv").write_text(text)
        assert infer_columns(read_table(tmp_path / "t.csv"))[1]["a"][0] == value
    frame = pd.DataFrame({"a": ["1,234", "2,345"]})
    with pytest.warns(TableWarning, match="'a' is read as text, because '1,234' may be 1234 or 1.234"):
        assert infer_columns(frame)[0][0].kind == "category"
    with pytest.raises(ValueError, match=r"'a' of the table is ambiguous: .* give the decimal separator"):
        infer_columns(frame, {"a": "number"})
    frame.attrs["decimal"] = ","
    assert infer_columns(frame)[0][0].format(2.5) == "2,500"


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_named_columns(infer):
    frame = pd.DataFrame(
        {
            "n": ["1", "2.0", "2"],
            "code": ["01067", "12345", "00001"],
            "day": ["5/1/2024", "6/1/2024", "7/1/2024"],
            "compact": ["20240501", "20240502", "20240503"],
            "text": ["a", "b", "7"],
        }
    )
    columns = infer(frame, kinds={"n": "category", "code": "number", "day": "%d/%m/%Y", "compact": "%Y%m%d"})
    values = apply_columns(frame, list(columns.values()))
    assert values["n"].tolist() == ["1", "2", "2"]
    assert values["code"].tolist() == [1067.0, 12345.0, 1.0]
    assert values["day"][0] == pd.Timestamp("2024-01-05")
    assert columns["day"].format(values["day"][0]) == "5/1/2024"
    assert infer(frame.drop(columns="day"), kinds={"compact": "date"})["compact"].kind == "date"
    numbers = frame[["compact", "n"]].astype(float)
    typed = apply_columns(numbers, list(infer(numbers, kinds={"compact": "date"}).values()))
    assert typed["compact"][0] == pd.Timestamp("2024-05-01")
    for options, message in (
        ({"kinds": {"text": "number"}}, "'text' of t.csv must have numbers; row 0 has 'a'"),
        ({"kinds": {"text": "date"}}, "'text' of t.csv must have dates like 2024-05-31; row 0 has 'a'"),
        (
            {"kinds": {"day": "date"}},
            "'day' of t.csv is ambiguous: '5/1/2024' may be January 5 or May 1",
        ),
        ({"kinds": {"day": "%Y"}}, "'day' of t.csv must have dates like 2024; row 0 has '5/1/2024'"),
        (
            {"kinds": {"day": "day"}},
            "The kind of column 'day' must be 'category', 'number', 'date'",
        ),
        ({"drop": ["Text"]}, r"no column 'Text' in t.csv for drop; did you mean 'text'\?"),
        ({"kinds": {"x": "category"}}, "no column 'x' in t.csv for kinds; its other columns are 'n', 'code'"),
    ):
        with pytest.raises(ValueError, match=message):
            infer_columns(frame, table="t.csv", **options)


def test_text_with_a_different_value_in_most_rows(table_warnings):
    frame = pd.DataFrame({"name": [f"p{row}" for row in range(50)], "a": np.arange(50) % 7})
    ((name, _), _), messages = table_warnings(infer_columns, frame)
    ignored = "Column 'name' is ignored: it is text with a different value in most rows ({} values)."
    assert messages == [f"{ignored.format(50)} If it names the rows, give it as id (--id)."]
    assert name.kind == "ignored"
    frame.loc[30:, "name"] = "p0"
    assert table_warnings(infer_columns, frame)[1] == [ignored.format(30)]
    (columns, _), messages = table_warnings(infer_columns, frame, {"name": "category"})
    assert (columns[0].kind, messages) == ("category", [])


ODD = "'k.A.' is no number, but nearly all other cells are; give what means a missing value as na_values"


@pytest.mark.parametrize(
    ("cells", "reason"),
    [
        (["k.A.", "1.234,5", "7"] + ["12,25"] * 9, ODD),
        (
            ["unknown", "k.A.", *[f"{number} €" for number in range(20)]],
            "'unknown', 'k.A.' are no numbers, but nearly all",
        ),
        (["k.A."] * 5 + ["1", "2", "3", "4"] * 3, ""),  # too many of them
        ([f"{number}a" for number in range(6)] + ["7", "8"] * 40, ""),  # house numbers
        (["low", "high", "1", "2"] * 5, ""),
        (["x", *["01234", "56789"] * 10], ""),  # codes
        (["-", "–"] * 5, ""),
    ],
)
def test_texts_among_numbers_are_named(cells, reason, table_warnings):
    frame = pd.DataFrame({"n": cells, "other": np.arange(len(cells)) % 2})
    ((column, _), _), messages = table_warnings(infer_columns, frame)
    found = [message for message in messages if "is read as text, because" in message]
    assert len(found) == bool(reason)
    assert all(reason in message for message in found)
    assert column.kind in ("category", "ignored")


@pytest.mark.parametrize(
    ("name", "values", "why"),
    [
        ("Unnamed: 0", np.arange(30), "its numbers count up"),
        ("patient", np.arange(1001, 1031), "its numbers count up"),
        ("patient_id", np.arange(30)[::-1] * 7, "its values are different in nearly every row"),
        ("ID", np.arange(30) * 3, "its values are different in nearly every row"),
        ("customerId", np.arange(30) * 3, "its values are different in nearly every row"),
        ("paid", np.arange(30) * 3, None),
        ("id", np.arange(30) % 5, None),
        ("x", np.arange(30) / 2, None),
        ("id", np.arange(30) + 0.5, None),
        ("nr", np.arange(5), None),
    ],
)
def test_columns_that_identify_the_rows(name, values, why, table_warnings):
    (columns, _), messages = table_warnings(infer_columns, pd.DataFrame({name: values}))
    assert columns[0].kind == "number"
    if why is None:
        assert messages == []
    else:
        assert messages == [
            f"Column {name!r} seems to identify the rows, as {why}; leave it out with drop (--drop), or let "
            "it name the rows with id (--id)."
        ]


def test_mixed_and_unusual_objects(infer):
    frame = pd.DataFrame(
        {
            "mixed": pd.Series([1, 2.0, "red"], dtype=object),
            "numbers": pd.Series(["1", 2, 2.5], dtype=object),
            "bools": pd.Series([True, None, False], dtype=object),
            "complex": [1j, 2j, 3j],
            "bytes": [b"a", b"b", b"c"],
            "spaces": [" red", "red ", "green"],
            "codes": pd.Categorical([3, 1, 3]),
        }
    )
    columns = infer(frame)
    kinds = {name: column.kind for name, column in columns.items()}
    assert kinds == {
        "mixed": "category", "numbers": "number", "bools": "bool", "complex": "ignored", "bytes": "ignored",
        "spaces": "category", "codes": "category",
    }  # fmt: skip
    values = apply_columns(frame, list(columns.values()))
    assert values["mixed"].tolist() == ["1", "2", "red"]
    assert values["numbers"].tolist() == [1.0, 2.0, 2.5]
    assert values["spaces"].tolist() == ["red", "red", "green"]
    assert values["codes"].tolist() == ["3", "1", "3"]


def test_types_of_arrow(infer):
    arrays = {
        "i": pa.array([1, None, 3]),
        "s": pa.array(["a", None, "b"]),
        "b": pa.array([True, None, False]),
        "day": pa.array([date(2024, 1, 1), None, date(2024, 1, 2)]),
        "time": pa.array(
            [pd.Timestamp("2024-01-01 10:00", tz="UTC"), None, pd.Timestamp("2024-01-02", tz="UTC")]
        ),
        "decimal": pa.array([Decimal("1.5"), None, Decimal("2.5")]),
        "list": pa.array([[1], None, [2]]),
    }
    table = pa.table(arrays)
    expected = None
    for frame in (table.to_pandas(), table.to_pandas(types_mapper=pd.ArrowDtype)):
        columns = infer(frame)
        kinds = ["number", "category", "bool", "date", "date", "number", "ignored"]
        assert [column.kind for column in columns.values()] == kinds
        values = apply_columns(frame, list(columns.values()))
        assert values["decimal"].tolist()[::2] == [1.5, 2.5]
        assert values["time"][0] == pd.Timestamp("2024-01-01 10:00")
        assert values.iloc[1].isna().all()
        if expected is not None:
            pd.testing.assert_frame_equal(values, expected)
        expected = values


@pytest.mark.parametrize(
    ("name", "nearest"),
    [("Agee", "Age"), ("AGE", "Age"), (" age ", "Age"), ("heigth", "height"), ("x", None), ("", None)],
)
def test_nearest_names(name, nearest):
    assert nearest_name(name, ["Age", "height", "weight"]) == nearest


def test_names_of_columns_that_do_not_exist():
    wide = pd.DataFrame([range(25)], columns=[f"c{j}" for j in range(25)])
    with pytest.raises(ValueError, match=r"no column 'zzz' in people.csv for id; .*'c19' and 5 more\.$"):
        check_has_columns(wide, ["zzz"], "people.csv", "id")
    with pytest.raises(ValueError, match=r"for id; did you mean 'c24'\?$"):
        check_has_columns(wide, ["C24"], "people.csv", "id")

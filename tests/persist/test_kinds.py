"""The language of the declarations: every kind brings its values back, and checks them both ways."""

import json

import numpy as np
import pytest

from lann.persist._errors import InvalidModelFile
from lann.persist._kinds import (
    Bool,
    Flags,
    Float,
    FloatList,
    Floats,
    Groups,
    Indices,
    Int,
    ListOf,
    Maybe,
    Names,
    PlainDict,
    PlainDicts,
    Ragged,
    Reader,
    Size,
    Text,
    TextDict,
    TextList,
    Texts,
    TextTuple,
    Votes,
    Writer,
)
from lann.persist._kinds.base import Sizes
from lann.persist._parameters import PARAMETER
from lann.persist._records import Record


def round_trip(kind, value):
    writer = Writer()
    data = json.loads(json.dumps(kind.write(value, "x", writer)))
    reader = Reader({name: memoryview(entry) for name, entry in writer.entries.items()})
    found = kind.read(data, "x", reader)
    assert reader.entries == {}
    return found


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Floats("n", "m"), np.arange(6.0).reshape(2, 3)),
        (Floats("n", "m", any_order=True), np.asfortranarray(np.arange(6.0).reshape(2, 3))),
        (Floats("n", 3, nan=True, infinite=True), np.array([[np.nan, np.inf, -np.inf]])),
        (Floats("n", single=True), np.arange(3, dtype=np.float32)),
        (Floats("n", "m"), np.empty((0, 3))),
        (Indices("n", below=None), np.arange(3)),
        (Flags("n", "m"), np.array([[0, 1, 1]], np.uint8)),
        (Texts("n"), np.array(["a", "größe", ""], object)),
        (Names("n"), np.array(["b", "a"])),
        (Names("n", distinct=True), np.array([False, True])),
        (Names("n", "m"), np.array([[1, 2]], np.uint16)),
        (FloatList(), [1.0, float("inf"), -0.5]),
        (FloatList(), []),
        (Int(0), 3),
        (Votes(), 3),
        (Votes(), 2**62),
        (Votes(), int(7e99)),
        (Float(), 0.1),
        (Text(), "ä\n"),
        (TextDict(), {"a": "b"}),
        (PlainDict(), {"a": [1, None, {"b": 2.5}]}),
        (PlainDicts(), [{"a": [1, None, {"b": 2.5}]}]),
        (TextTuple("a", "b"), ("b",)),
        (TextList(), ["a", "1"]),
        (Bool(), True),
        (ListOf("n", Int(0)), [1, 2]),
        (ListOf(2, FloatList()), [[1.0], []]),
        (Maybe(Int(0)), None),
        (PARAMETER, {"a": 1, 2: 0.5, True: None}),
        (PARAMETER, ["a", 1]),
        (PARAMETER, ("a", 1)),
        (PARAMETER, np.eye(2)),
        (PARAMETER, np.array(["a", "b"], object)),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_come_back(kind, value):
    found = round_trip(kind, value)
    assert type(found) is type(value)
    if isinstance(value, np.ndarray):
        assert found.dtype == value.dtype
        assert found.flags.f_contiguous == value.flags.f_contiguous
        assert found.flags.writeable
        np.testing.assert_array_equal(found, value)
    else:
        assert found == value


@pytest.mark.parametrize("shapes", [[(2, 3), (0, 3), (1, 1)], [], [(0, 0)]])
def test_ragged_arrays_come_back(shapes):
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=shape) for shape in shapes]
    found = round_trip(Ragged("n_items", 2), arrays)
    assert [a.shape for a in found] == shapes
    for one, other in zip(found, arrays, strict=True):
        np.testing.assert_array_equal(one, other)


def changed_ragged(shapes):
    writer = Writer()
    kind = Ragged("n_items", 2)
    data = kind.write([np.ones((2, 3)), np.ones((1, 1))], "x", writer)
    other = Writer()
    data["shapes"] = Indices("n_items", 2, below=None).write(np.array(shapes), "x/shapes", other)
    return kind, data, {n: memoryview(e) for n, e in (writer.entries | other.entries).items()}


@pytest.mark.parametrize(
    "shapes",
    [
        [[2, 3], [1, 2]],
        [[2, 3]],
        [[2**40, 2**40], [1, 1]],
        [[2**62, 4], [7, 1]],
        [[7, 1], [0, 2**62], [1, 1]],
    ],
)
def test_shapes_of_ragged_arrays_have_to_fit(shapes):
    kind, data, entries = changed_ragged(shapes)
    with pytest.raises(InvalidModelFile, match="is not what its shapes say"):
        kind.read(data, "x", Reader(entries))


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        (Floats("n"), np.array([np.nan])),
        (Floats("n"), np.array([np.inf])),
        (Floats("n", nan=True), np.array([np.nan, np.inf])),
        (Floats("n", low=0.0), np.array([-1.0])),
        (Floats("n", high=0.0), np.array([1.0])),
        (Floats("n", above=0.0), np.array([0.0])),
        (Floats("n", low=0.0, nan=True), np.array([np.nan, -1.0])),
        (Floats("n", ascending=0), np.array([1.0, 0.0])),
        (Floats("n", "n"), np.zeros((2, 3))),
        (Floats("n", "n-1"), np.zeros((2, 2))),
        (Floats("n"), np.zeros((2, 2))),
        (Floats("n"), np.zeros(2, np.float32)),
        (Floats("n"), [0.0]),
        (Indices("n", below=None), np.array([-1])),
        (Indices("n", below=None, ascending=True), np.array([1, 0])),
        (Indices("n", below=None), np.array([1], np.int32)),
        (Texts("n"), np.array(["a\x00"], object)),
        (Texts("n"), np.array(["\ud800"], object)),
        (Texts("n"), np.array([1], object)),
        (Names("n"), np.array([1.5, np.nan])),
        (Names("n"), np.array(["2000-01-01"], "M8[D]")),
        (Names("n"), np.array([b"a"])),
        (Names("n", distinct=True), np.array([1, 1])),
        (Ragged("n", 2), [np.zeros(3)]),
        (Ragged("n", 2), [np.zeros((1, 1), np.float32)]),
        (FloatList(), (1.0,)),
        (Int(0, 3), 4),
        (Votes(), 0),
        (Votes(), int(1e104)),
        (Votes(), 2.0),
        (Votes(), 7e99),
        (Int(0), 1.0),
        (Int(0), True),
        (Float(), float("nan")),
        (Float(0.0, 1.0), 2.0),
        (Float(above=0.0), 0.0),
        (Float(), "1"),
        (Float(), True),
        (Text(), 1),
        (Text("a"), "b"),
        (TextDict(), {"a": 1}),
        (PlainDicts(), [{"a": object()}]),
        (TextTuple("a"), ("b",)),
        (TextTuple("a"), ("a", "a")),
        (Size("n"), 1.0),
        (TextList(), [None]),
        (TextList(), [["a"]]),
        (TextList(), [1]),
        (Bool(), 1),
        (ListOf(3, Int(0)), [1, 2]),
        (ListOf("n", Int(0)), [1, "2"]),
        (PARAMETER, object()),
        (PARAMETER, float("nan")),
        (PARAMETER, {"a": [1]}),
        (PARAMETER, np.zeros((1, 1, 1))),
        (PARAMETER, np.array([object()])),
    ],
)
def test_invalid_values_are_not_written(kind, value):
    with pytest.raises(InvalidModelFile):
        kind.write(value, "x", Writer())


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (Votes(), 0), (Votes(), 3.0), (Votes(), 1e104), (Votes(), -7e99), (Votes(), "7"), (Votes(), None),
        (Int(0), None), (Int(0), 1.0), (Int(0), True), (Int(0), "1"), (Float(), 1), (Float(), None),
        (Text(), None),
        (Texts("n"), ["a"]), (Floats("n"), {"entry": "x.npy"}), (Floats("n"), []),
        (Names("n"), {"python": True}),
        (Ragged("n", 2), {}), (FloatList(), [1.0]), (TextTuple("a"), "a"), (Groups("n"), [1]),
        (Groups("n"), {}),
        (Maybe(Int(0)), False), (TextList(), [{}]), (TextList(), "a"), (Bool(), None),
        (ListOf("n", Int(0)), {}),
        (ListOf(1, Int(0)), []), (PARAMETER, [1]), (PARAMETER, {"list": [[1]]}), (PARAMETER, {"tuple": 1}),
        (PARAMETER, {"array3": {}}), (PARAMETER, {"array1": 1}), (PARAMETER, {"list": [], "tuple": []}),
        (PARAMETER, {}),
        (PARAMETER, {"dict": [[1]]}), (PARAMETER, {"dict": {"a": 1}}), (PARAMETER, {"eval": "1"}),
    ],
)  # fmt: skip
def test_invalid_json_is_not_read(kind, data):
    with pytest.raises(InvalidModelFile):
        kind.read(data, "x", Reader({}))


def test_sizes_agree_between_fields():
    pair = Record(
        lambda **values: values,
        {"a": Floats("n"), "b": Indices("m", below="n"), "n_here": Size("n"), "groups": Groups("n")},
        sources={name: lambda value, name=name: value[name] for name in ("a", "b", "n_here", "groups")},
        at_least={"m": 1},
        rules=(lambda values: "a is b" if values["a"] is values["b"] else None,),
    )
    valid = {"a": np.zeros(3), "b": np.array([2, 0]), "n_here": 3, "groups": ((0, 2),)}
    assert round_trip(pair, valid).keys() == valid.keys()
    for change, message in [
        ({"b": np.array([3])}, "out of range"),
        ({"b": np.empty(0, np.int64)}, "at least 1"),
        ({"n_here": 4}, "where n = 3 is needed"),
        ({"groups": ((3,),)}, "positions below 3"),
        ({"groups": ((0, 1), (1,))}, "common positions"),
    ]:
        with pytest.raises(InvalidModelFile, match=message):
            pair.write(valid | change, "x", Writer())


def test_a_record_for_each_feature_is_a_few_lines():
    feature = Record(
        lambda **values: values,
        {"name": Text(), "kind": Text("number", "category"), "categories": TextList()},
        sources={key: lambda value, key=key: value[key] for key in ("name", "kind", "categories")},
    )
    schema = [
        {"name": "age", "kind": "number", "categories": []},
        {"name": "city", "kind": "category", "categories": ["Ulm", "1", "True", "0.5"]},
    ]
    assert round_trip(ListOf("n_features", feature), schema) == schema
    with pytest.raises(InvalidModelFile, match="its x/1/kind has to be one of"):
        ListOf("n_features", feature).write([schema[0], schema[1] | {"kind": "text"}], "x", Writer())


def test_fields_are_named_in_messages():
    with pytest.raises(InvalidModelFile, match="its part/field has NaN"):
        Record(dict, {"field": Floats("n")}, sources={"field": lambda value: value}).write(
            np.array([np.nan]), "part", Writer()
        )


def test_a_size_that_is_known_can_be_too_small():
    sizes = Sizes()
    sizes.match("n_features", 0, "n_features_in_")
    with pytest.raises(InvalidModelFile, match="it has n_features = 0, which has to be at least 1"):
        sizes.require({"n_features": 1, "n_rows": 1})


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_signaling_nan_is_read_as_nan(dtype):
    bits = np.array([0x7FF0000000000001] if dtype is np.float64 else [0x7F800001], f"<u{dtype().itemsize}")
    value = np.concatenate([np.arange(2, dtype=dtype), bits.view(dtype)])
    found = round_trip(Floats("n", nan=True, single=True), value)
    assert found.tobytes() == np.array([0.0, 1.0, np.nan], dtype).tobytes()

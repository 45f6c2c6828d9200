"""Hostile files: each gets one sentence, nothing in it runs, and it never takes much memory."""

import io
import json
import pickle
import struct
import tracemalloc
import zipfile
import zlib

import numpy as np
import pytest

from lann import LANNClassifier, load, save
from lann.baselines import DANN, GMLVQ, LMNN, PLML
from lann.persist._archive import write_archive
from lann.persist._npy import write_array

X_ENTRY = "model/model_/levels/X"


def replace_array(changes, name, array):
    """Replace an array and its declaration, as an honest file has them."""
    dtype = array.dtype.newbyteorder("<").str
    changes.array(name).update(dtype=dtype, shape=list(array.shape))
    changes.entries[f"{name}.npy"] = write_array(array, dtype, "C")


# Files that are something else


def test_files_that_are_no_model(saved, load_fails):
    content = saved.read_bytes()
    foreign = [
        b"",
        b"PK",
        b"a,b\n1,2\n",
        bytes(1000),
        pickle.dumps({"a": 1}),
        b"cos\nsystem\n(S'touch x'\ntR.",
    ]
    changed = [content[:-30], content[: len(content) // 2], content[100:5000], content + b"x", b"x" + content]
    for wrong in [*foreign, *changed]:
        saved.write_bytes(wrong)
        load_fails(saved, "not a whole file written by lann.save")


def test_a_file_of_the_former_format_says_to_fit_again(tmp_path, zipped, load_fails):
    path = zipped(
        tmp_path / "model.skops", {"schema.json": b"{}", "1.npy": b"", "lann.json": b'{"format": 1}'}
    )
    load_fails(path, "earlier versions .* no longer read; fit the model again")


def test_a_damaged_byte_is_noticed(saved, load_fails):
    honest = saved.read_bytes()
    for position in np.linspace(0, len(honest) - 1, 60).astype(int):
        content = bytearray(honest)
        content[position] ^= 0x10
        saved.write_bytes(content)
        load_fails(saved, "cannot be loaded")


def test_a_path_that_is_no_file(tmp_path, load_fails):
    load_fails(tmp_path / "none.lann", "There is no file", FileNotFoundError)
    load_fails(tmp_path, "is a folder", IsADirectoryError)


def test_a_newer_format_is_said_to_be_newer(saved, changes, load_fails):
    changed = changes(saved)
    changed.described |= {"format": 2, "lann": "9.0"}
    load_fails(changed.write(), "written by lann '9.0' in format 2.* update lann")


# Archives


@pytest.mark.parametrize(
    "name", ["../x.npy", "/x.npy", "C:/x.npy", "a/../x.npy", "x", "x.py", "ä.npy", "a//b.npy"]
)
def test_entries_of_other_names(saved, changes, name, load_fails):
    load_fails(changes(saved).write(**{name: b""}), "invalid name")


def test_an_entry_twice(saved, changes, load_fails):
    content = changes(saved).write(**{"model/classes2.npy": b"x"}).read_bytes()
    saved.write_bytes(content.replace(b"model/classes2.npy", b"model/classes_.npy"))
    load_fails(saved, "two entries of the name model/classes_.npy")


def test_an_entry_too_many_or_too_few(saved, changes, load_fails):
    load_fails(changes(saved).write(**{"model/x.npy": b""}), "unknown entry model/x.npy")
    for name in (f"{X_ENTRY}.npy", "model.json"):
        changed = changes(saved)
        changed.entries = {n: e for n, e in changed.entries.items() if n not in (name, "model/x.npy")}
        saved.write_bytes(write_archive(changed.entries))
        load_fails(saved, f"entry {name} is missing")
        save(LANNClassifier(max_iter=0).fit(np.eye(4), [0, 1, 0, 1]), saved)


def test_many_entries(saved, changes, load_fails):
    load_fails(
        changes(saved).write(**{f"x{n}.npy": b"" for n in range(70_000)}), "entries, and a model at most"
    )


def test_compressed_entries_are_not_unpacked(saved, changes, zipped, load_fails):
    entries = changes(saved).entries | {"bomb.npy": bytes(50_000_000)}
    zipped(saved, entries, zipfile.ZIP_DEFLATED)
    assert saved.stat().st_size < 500_000
    tracemalloc.start()
    load_fails(saved, "not a whole file")
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


def header_field(content, mark, offset, value):
    start = content.index(mark) + offset
    return content[:start] + value + content[start + len(value) :]


@pytest.mark.parametrize(
    ("mark", "offset", "value"),
    [
        (b"PK\x03\x04", 6, b"\x01\x00"),  # encrypted
        (b"PK\x01\x02", 8, b"\x01\x00"),
        (b"PK\x03\x04", 8, b"\x08\x00"),  # compressed
        (b"PK\x01\x02", 10, b"\x08\x00"),
        (b"PK\x01\x02", 34, b"\x01\x00"),  # on another disk
        (b"PK\x06\x06", 16, b"\x01\x00"),
        (b"PK\x06\x07", 4, b"\x01\x00"),
        (b"PK\x05\x06", 4, b"\x01\x00"),
        (b"PK\x03\x04", 28, b"\x00\x00"),  # another length of the further fields
        (b"PK\x01\x02", 28, b"\xff\xff"),
        (b"PK\x01\x02", 30, b"\x10\x00"),
        (b"PK\x01\x02", 32, b"\x10\x00"),  # a comment
        (b"PK\x05\x06", 20, b"\x10\x00"),
        (b"PK\x06\x06", 24, struct.pack("<Q", 2**40)),  # another number of entries
        (b"PK\x06\x06", 40, struct.pack("<Q", 2**62)),  # another size of the directory
        (b"PK\x06\x06", 48, struct.pack("<Q", 0)),
        (b"PK\x03\x04", 10, b"\x01\x00"),  # a time
    ],
)
def test_options_of_zip_archives(saved, mark, offset, value, load_fails):
    saved.write_bytes(header_field(saved.read_bytes(), mark, offset, value))
    load_fails(saved, "not stored as lann.save stores it|not a whole file|entries, and a model")


def test_sizes_in_the_directory_that_are_not_those_of_the_entry(saved, load_fails):
    honest = saved.read_bytes()
    start = honest.index(b"PK\x01\x02") + 46 + len("model.json") + 4
    for size in (0, 10, 2**40, 2**64 - 1):
        saved.write_bytes(honest[:start] + struct.pack("<QQ", size, size) + honest[start + 16 :])
        load_fails(saved, "not stored as lann.save stores it")


# model.json


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"format": 1', '"format": 1, "format": 1', "a key twice"),
        ('"format": 1', '"format": NaN', "not finite"),
        ('"format": 1', '"format": -Infinity', "not finite"),
        ('"format": 1', '"format": 1e999', "not finite"),
        ('"format": 1', '"format": 1' + "0" * 5000, "too large"),
        ('"format": 1', '"format": 9223372036854775808', "too large"),
        ('"format": 1', '"format": true', "in which format"),
        ('"format": 1', '"format": 0', "in which format"),
        ('"format": 1', '"format": 1, "more": 1', "does not have the fields"),
        ('"table": null', '"table": ' + "[" * 100_000 + "]" * 100_000, "too large|too deeply"),
        ('"table": null', '"table": ' + "[" * 30_000 + "]" * 30_000, "too deeply"),
        ('"table": null', '"table": ' + "[" * 40 + "]" * 40, "too deeply"),
        ('"table": null', '"table": [' + "[]," * 150_000 + "1]", "too large"),
        ('"table": null', '"table": [' + "0," * 250_000 + "1]", "too large"),
        ('"table": null', '"table": "' + "x" * 2**24 + '"', "too large"),
        ('"table": null', '"table": "\\ud800"', "not valid Unicode"),
        ('"table": null', '"table": {"target": 1}', "record with the fields"),
        ('"table": null', '"table": nul', "not valid JSON"),
        ('"table": null', '"table": null}', "not valid JSON"),
        ('"estimator": "LANNClassifier"', '"estimator": "os.system"', "has to be one of"),
        ('"estimator": "LANNClassifier"', '"estimator": "LMNN"', "with the parameters"),
        ('"estimator": "LANNClassifier"', '"estimator": ["LMNN"]', "has to be one of"),
    ],
)  # fmt: skip
def test_json_that_is_invalid(saved, changes, old, new, message, load_fails):
    changed = changes(saved)
    text = json.dumps(changed.described)
    assert old in text
    saved.write_bytes(write_archive(changed.entries | {"model.json": text.replace(old, new).encode()}))
    load_fails(saved, message)


def test_json_that_is_too_large_is_not_copied(saved, changes, load_fails):
    content = write_archive(changes(saved).entries | {"model.json": b" " * 2**25})
    saved.write_bytes(content)
    tracemalloc.start()
    try:
        load_fails(saved, "model.json is too large")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 1.2 * len(content)


@pytest.mark.parametrize("content", [b"", b"null", b"[]", b"{}", b"\xff\xfe", b"[" * 100, b"\xef\xbb\xbf{}"])
def test_json_that_is_something_else(saved, changes, content, load_fails):
    saved.write_bytes(write_archive(changes(saved).entries | {"model.json": content}))
    load_fails(saved, "cannot be loaded")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0), ("alpha", "1"), ("alpha", None), ("metric", "cosine"), ("metric", ["full"]),
        ("levels", "map"),
        ("levels", {"tuple": ["predict"]}), ("n_neighbors", 0), ("n_neighbors", 2.0), ("n_neighbors", True),
        ("class_weight", {"dict": [["up", -1.0]]}), ("class_weight", {"dict": [["up", 1.0], ["up", 2.0]]}),
        ("class_weight", {"dict": [[["up"], 1.0]]}), ("class_weight", {"dict": [["up"]]}),
        ("class_weight", {"dict": 1}),
        ("class_weight", {"pickle": "x"}), ("random_state", -1), ("random_state", "x"), ("warm_start", 1),
        ("max_iter", -1), ("learning_rate", 0.0),
    ],
)  # fmt: skip
def test_parameters_that_are_invalid(saved, changes, name, value, load_fails):
    changed = changes(saved)
    changed.parameters[name] = value
    load_fails(changed.write(), f"{name}.*")


@pytest.mark.parametrize("name", ["n_jobs", "verbose", "predict", "__class__", "steps"])
def test_parameters_that_are_not_in_files(saved, changes, name, load_fails):
    changed = changes(saved)
    changed.parameters[name] = -1
    load_fails(changed.write(), "with the parameters")


@pytest.mark.parametrize("name", ["predict", "explain", "_validate_queries", "__class__", "derived"])
def test_attributes_that_are_named_like_methods(saved, changes, name, load_fails):
    changed = changes(saved)
    for record in (changed.fitted, changed.fitted["model_"], changed.fitted["model_"]["levels"]):
        record[name] = None
        load_fails(changed.write(), "record with the fields")
        del record[name]
    changed.write()
    assert load(saved).predict_proba(np.zeros((1, 4))).shape == (1, 2)


SCALARS = [
    ("n_features_in_", 3), ("n_features_in_", -1), ("n_features_in_", 4.0), ("n_features_in_", 2**62),
    ("n_iter_", -1),
    ("_weight_unit", 0.0), ("_weight_unit", 2.0), ("_weight_unit", None), ("levels_", ["points"]),
    ("levels_", "map"),
    ("levels_", [["map"]]), ("feature_names_in_", "abcd"), ("model_", None), ("vote_", {}),
    ("classes_", None),
    ("model_/n_neighbors", 0), ("model_/n_neighbors", 8), ("model_/n_candidates", 0), ("model_/power", -1.0),
    ("model_/power", 5.0), ("model_/epsilon", 0.0), ("model_/epsilon", 1), ("model_/floor", -0.5),
    ("model_/levels/encoding", None), ("model_/levels/encoding/curves", None), ("schema_", None),
    ("schema_/has_names", 1), ("ids_", "abc"),
    ("vote_/chosen", -1), ("vote_/chosen", 10**6), ("vote_/best", 10**6),
    ("vote_/n_neighbors", 9),
    ("model_/n_arrived", 59), ("model_/n_arrived", 61), ("model_/n_arrived", 60.0), ("_progress", {}),
    ("_progress/learned", 1), ("_progress/loss_epsilon", 0.0), ("_progress/loss_epsilon", 1),
    ("_progress/n_changes", -1), ("_progress/n_rows", 1.5), ("_progress/seed", -1), ("_progress/seed", 2**40),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value"), SCALARS)
def test_values_that_are_invalid(saved, changes, name, value, load_fails):
    changed = changes(saved)
    *owners, last = name.split("/")
    record = changed.fitted
    for owner in owners:
        record = record[owner]
    assert repr(record[last]) != repr(value)
    record[last] = value
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


ARRIVALS = "model/model_/arrivals"


@pytest.mark.parametrize(
    "arrivals",
    [[*range(57), 60], [-1, *range(1, 58)], [0, *range(57)], [1, 0, *range(2, 58)], range(57), [0.5] * 58],
)
def test_rows_that_have_not_arrived_in_order(data, tmp_path, changes, arrivals, load_fails):
    X, y = data
    clf = LANNClassifier(max_iter=0, random_state=0).fit(X, y).forget([0, 30])
    path = tmp_path / "model.lann"
    save(clf, path)
    changed = changes(path)
    replace_array(changed, ARRIVALS, np.array(arrivals))
    load_fails(changed.write(), "arrive|arrivals|n_rows")


def test_an_order_of_arrival_that_is_missing(data, tmp_path, changes, load_fails):
    X, y = data
    path = tmp_path / "model.lann"
    save(LANNClassifier(max_iter=0, random_state=0).fit(X, y).forget(3), path)
    changed = changes(path)
    changed.fitted["model_"]["arrivals"] = None
    del changed.entries[f"{ARRIVALS}.npy"]
    load_fails(changed.write(), "the order in which the rows have arrived is missing")


# Arrays


@pytest.mark.parametrize(
    "shape",
    [[61, 4], [59, 4], [240], [4, 60], [60, 4, 1], [-60, -4], [2**40, 2**40], [2**62, 4], ["60", 4], "x", []],
)
def test_declared_shapes_that_are_not_those_of_the_array(saved, changes, shape, load_fails):
    changed = changes(saved)
    changed.array(X_ENTRY)["shape"] = shape
    load_fails(changed.write(), X_ENTRY)


@pytest.mark.parametrize(
    "dtype", ["<f4", "<i8", "|O", "<U2", ">f8", "<c16", "f8", "V8", 8, "<f8,<f8", "<M8[s]"]
)
def test_declared_types_that_are_not_those_of_the_array(saved, changes, dtype, load_fails):
    changed = changes(saved)
    changed.array(X_ENTRY)["dtype"] = dtype
    load_fails(changed.write(), X_ENTRY)


def test_headers_of_arrays_that_are_not_as_declared(saved, changes, load_fails):
    changed = changes(saved)
    honest = changed.entries[f"{X_ENTRY}.npy"]
    for shape, descr in [((2**50, 2**10), "<f8"), ((60, 4), "|O"), ((240,), "<f8"), ((60, 4), ">f8")]:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
        load_fails(
            changed.write(**{f"{X_ENTRY}.npy": header.getvalue() + honest[128:]}), "is not an array of type"
        )
    for content in (b"", honest[:-1], honest + b"x", pickle.dumps([1])):
        load_fails(changed.write(**{f"{X_ENTRY}.npy": content}), "is not an array of type")


def test_object_arrays_are_not_unpickled(saved, changes, load_fails):
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    changed = changes(saved)
    load_fails(changed.write(**{f"{X_ENTRY}.npy": buffer.getvalue()}), "is not an array of type")
    changed.array(X_ENTRY).update(dtype="|O", shape=[1])
    load_fails(changed.write(), "type '|O'")


def test_one_entry_for_two_arrays(saved, changes, load_fails):
    changed = changes(saved)
    target = changed.array("model/model_/levels/point_log_weights")
    changed.array(X_ENTRY)["entry"] = target["entry"]
    load_fails(changed.write(), f"entry {X_ENTRY}.npy")


VALUES = {
    "labels out of range": ("model/model_/levels/labels", lambda a: a + 1_000_000),
    "negative labels": ("model/model_/levels/labels", lambda a: a - 1),
    "labels of another type": ("model/model_/levels/labels", lambda a: a.astype(np.int32)),
    "NaN as weight": ("model/model_/levels/class_log_weights", lambda a: a * np.nan),
    "infinite": (X_ENTRY, lambda a: a + np.inf),
    "edges that fall": ("model/model_/levels/encoding/curves/edges", lambda a: a[:, ::-1].copy()),
    "negative jumps": ("model/model_/levels/encoding/curves/jumps", lambda a: np.full((4, 1), -1.0)),
    "weights that overflow": ("model/model_/levels/class_log_weights", lambda a: a + 1000.0),
    "fewer rows": (X_ENTRY, lambda a: a[:-1].copy()),
    "no rows": (X_ENTRY, lambda a: a[:0].copy()),
    "classes that are equal": ("model/classes_", lambda a: np.array(["a", "a"])),
    "classes in another order": ("model/classes_", lambda a: np.array(["b", "a"])),
    "classes that are NaN": ("model/classes_", lambda a: np.array([0.0, np.nan])),
    "more classes": ("model/classes_", lambda a: np.array(["a", "b", "c"])),
    "votes": ("model/vote_/votes", lambda a: a + 1.0),
}  # fmt: skip


@pytest.mark.parametrize(("name", "change"), VALUES.values(), ids=VALUES)
def test_values_of_arrays_that_are_invalid(saved, changes, classifier, name, change, load_fails):
    changed = changes(saved)
    replace_array(changed, name, change(np.load(io.BytesIO(changed.entries[f"{name}.npy"]))))
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


def test_text_that_is_no_text(saved, changes, load_fails):
    changed = changes(saved)
    entry = changed.entries["model/feature_names_in_.npy"]
    for code in (0x110000, 0xD800, 2**32 - 1):
        broken = entry[:-4] + struct.pack("<L", code)
        load_fails(changed.write(**{"model/feature_names_in_.npy": broken}), "not valid Unicode")


# Other estimators


def baseline(model, path, data):
    X, y = data
    save(model.fit(X.to_numpy(), y), path)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize(
    ("model", "name", "change"),
    [
        (LMNN(max_iter=1), "model/model_/groups", lambda a: a + 1),
        (LMNN(max_iter=1), "model/model_/maps", lambda a: a * np.nan),
        (LMNN(max_iter=1), "model/model_/X", lambda a: a * 1e200),
        (LMNN(max_iter=1), "model/model_/maps", lambda a: a[:, :, :3].copy()),
        (DANN(), "model/model_/memberships", lambda a: a[:, ::-1].copy()),
        (DANN(), "model/model_/memberships", lambda a: a * 0.5),
        (PLML(max_iter=1, n_anchors=3), "model/model_/weights", lambda a: a[:, :2].copy()),
        (PLML(max_iter=1, n_anchors=3), "model/model_/weights", lambda a: -a),
        (GMLVQ(max_iter=1), "model/model_/labels", lambda a: a * 0),
        (GMLVQ(max_iter=1), "model/model_/labels", lambda a: a[::-1].copy()),
        (GMLVQ(max_iter=1), "model/model_/metric_indices", lambda a: a + 1),
        (GMLVQ(max_iter=1), "model/model_/typical_values", lambda a: a[::-1].copy()),
    ],
)
def test_arrays_of_baselines_that_are_invalid(model, name, change, data, tmp_path, changes, load_fails):
    path = tmp_path / "m.lann"
    baseline(model, path, data)
    changed = changes(path)
    replace_array(changed, name, change(np.load(io.BytesIO(changed.entries[f"{name}.npy"]))))
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


@pytest.mark.parametrize(
    ("name", "value"), [("max_iter", 10**9), ("n_metric_neighbors", 61), ("n_neighbors", 61)]
)
def test_numbers_that_would_take_forever_or_do_not_fit(name, value, data, tmp_path, changes, load_fails):
    path = tmp_path / "m.lann"
    baseline(DANN(), path, data)
    changed = changes(path)
    changed.fitted["model_"][name] = value
    load_fails(changed.write(), f"model_/{name}")


# Memory


def test_loading_takes_little_more_memory_than_the_file(tmp_path):
    X = np.random.default_rng(0).normal(size=(20_000, 20))
    path = tmp_path / "m.lann"
    save(LANNClassifier(max_iter=0, n_neighbors=5, power=1.0).fit(X, X[:, 0] > 0), path)
    load(path)
    tracemalloc.start()
    load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 3 * path.stat().st_size


def test_the_checksum_is_that_of_zip(saved):
    with zipfile.ZipFile(saved) as archive:
        assert all(zlib.crc32(archive.read(info)) == info.CRC for info in archive.infolist())

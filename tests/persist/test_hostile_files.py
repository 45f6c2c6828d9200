"""Hostile files: each gets one sentence, nothing in it runs, and it never takes much memory."""

import io
import json
import pickle
import tracemalloc
import zipfile

import numpy as np
import pytest

from lann import load
from tests.persist.conftest import write_entries

LEVELS = "model/model_/levels"


def test_files_that_are_no_model(saved, load_fails):
    content = saved.read_bytes()
    for wrong in (
        b"",
        b"PK",
        b"a,b\n1,2\n",
        bytes(1000),
        pickle.dumps({"a": 1}),
        content[: len(content) // 2],
    ):
        saved.write_bytes(wrong)
        load_fails(saved, "not a whole file written by lann.save")


def test_a_damaged_byte_is_noticed_or_harmless(saved, data):
    expected, honest = load(saved).predict_proba(data[0]), saved.read_bytes()
    n_noticed = 0
    for position in np.linspace(0, len(honest) - 1, 60).astype(int):
        content = bytearray(honest)
        content[position] ^= 0x10
        saved.write_bytes(content)
        try:
            loaded = load(saved)
        except ValueError:
            n_noticed += 1
        else:
            np.testing.assert_array_equal(loaded.predict_proba(data[0]), expected)
    assert n_noticed > 30


def test_a_path_that_is_no_file(tmp_path, load_fails):
    load_fails(tmp_path / "none.lann", "There is no file", FileNotFoundError)
    load_fails(tmp_path, "is a folder", IsADirectoryError)


def test_a_newer_format_is_said_to_be_newer(saved, changes, load_fails):
    changed = changes(saved)
    changed.described |= {"format": 2, "lann": "9.0"}
    load_fails(changed.write(), "written by lann '9.0' in format 2.* update lann")


def test_an_entry_too_many_or_too_few(saved, changes, load_fails):
    changed = changes(saved)
    load_fails(
        write_entries(saved, changed.entries | {"../x.npy": changed.entries[f"{LEVELS}/X.npy"]}),
        "unknown entry",
    )
    for name in (f"{LEVELS}/X.npy", "model.json"):
        entries = {n: entry for n, entry in changed.entries.items() if n != name}
        load_fails(write_entries(saved, entries), f"entry {name} is missing")


def test_compressed_entries_are_not_unpacked(saved, changes, load_fails):
    write_entries(saved, changes(saved).entries | {"bomb.npy": bytes(50_000_000)}, zipfile.ZIP_DEFLATED)
    tracemalloc.start()
    load_fails(saved, "it is compressed")
    assert tracemalloc.get_traced_memory()[1] < 5_000_000
    tracemalloc.stop()


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"format": 1', '"format": NaN', "not valid JSON"),
        ('"n_iter_": 1', '"n_iter_": 1e999', "n_iter_ has to be"),
        ('"format": 1', '"format": 1' + "0" * 5000, "not valid JSON"),
        ('"format": 1', '"format": true', "in which format"),
        ('"format": 1', '"format": 1, "more": 1', "does not have the fields"),
        ('"table": null', '"table": ' + "[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('"table": null', '"table": [' + "[]," * 350_000 + "1]", "too large"),
        ('"table": null', '"table": {"target": 1}', "record with the fields"),
        ('"table": null', '"table": nul', "not valid JSON"),
        ('"estimator": "LANNClassifier"', '"estimator": "os.system"', "has to be one of"),
        ('"estimator": "LANNClassifier"', '"estimator": "LMNN"', "record with the fields"),
    ],
    ids=range(11),
)
def test_json_that_is_invalid(saved, changes, old, new, message, load_fails):
    changed = changes(saved)
    text = json.dumps(changed.described)
    assert old in text
    entries = changed.entries | {"model.json": text.replace(old, new).encode()}
    load_fails(write_entries(saved, entries), message)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("alpha", -1.0), ("levels", {"tuple": ["predict"]}), ("n_neighbors", True),
        ("class_weight", {"dict": [["up"]]}), ("class_weight", {"pickle": "x"}),
    ],
)  # fmt: skip
def test_parameters_that_are_invalid(saved, changes, name, value, load_fails):
    changed = changes(saved)
    changed.parameters[name] = value
    load_fails(changed.write(), f"{name}.*")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features_in_", 3), ("n_features_in_", 4.0), ("n_iter_", -1), ("_weight_unit", 0.0),
        ("levels_", [1]), ("classes_", None), ("model_/n_neighbors", 0),
        ("model_/vote_rule/power", -1.0), ("model_/levels/encoding/curves", None), ("schema_/has_names", 1),
        ("vote_/chosen", 10**6), ("_progress/seed", 2**40),
    ],
)  # fmt: skip
def test_values_that_are_invalid(saved, changes, name, value, load_fails):
    changed = changes(saved)
    *owners, last = name.split("/")
    record = changed.fitted
    for owner in owners:
        record = record[owner]
    record[last] = value
    load_fails(changed.write(), "cannot be loaded: (its|in its) ")


@pytest.mark.parametrize(
    ("name", "edit"),
    [
        ("labels", lambda a: a + 10**6), ("labels", lambda a: a - 1), ("labels", lambda a: a[:-1]),
        ("labels", lambda a: a.astype(float)), ("X", lambda a: a * np.inf), ("X", lambda a: a[:, :-1]),
        ("X", lambda a: a.ravel()), ("X", lambda a: np.full(a.shape, 1e300)),
        ("X", lambda a: a.astype(">f8")),
        ("class_log_weights", lambda a: a + 1e3), ("point_log_weights", lambda a: a * np.nan),
        ("encoding/curves/edges", lambda a: -a), ("encoding/gaps/scales", lambda a: 0 * a),
    ],
)  # fmt: skip
def test_arrays_that_are_invalid(saved, changes, name, edit, load_fails):
    changed = changes(saved)
    with np.errstate(invalid="ignore"):
        array = edit(changed.array(f"{LEVELS}/{name}"))
    load_fails(changed.replace_array(f"{LEVELS}/{name}", array).write(), f"{LEVELS}|its entry")


def test_headers_that_are_not_those_of_the_array(saved, changes, load_fails):
    changed = changes(saved)
    honest = changed.entries[f"{LEVELS}/X.npy"]
    for shape, descr in [((2**50, 2**10), "<f8"), ((60, 4), "|O"), ((-60, -4), "<f8"), ((60, 4), "<U0")]:
        header = io.BytesIO()
        np.lib.format.write_array_header_1_0(header, {"descr": descr, "fortran_order": False, "shape": shape})
        load_fails(changed.write(**{f"{LEVELS}/X.npy": header.getvalue() + honest[128:]}), f"{LEVELS}/X.npy")
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    for content in (b"", honest[:-1], honest + b"x", pickle.dumps([1]), buffer.getvalue()):
        load_fails(changed.write(**{f"{LEVELS}/X.npy": content}), f"{LEVELS}/X.npy")

"""Model files: what comes back is the same, and hostile files do nothing."""

from __future__ import annotations

import io
import json
import os
import pickle
import re
import subprocess
import sys
import zipfile
from typing import ClassVar
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer, make_column_selector
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    OrdinalEncoder,
    PowerTransformer,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

from lann import LANNClassifier, load, save


@pytest.fixture(scope="module")
def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "weight [kg]", "größe"])
    return X, np.where(X["a"] + X["b"] > 0, "up", "down")


@pytest.fixture(scope="module")
def classifier(data) -> LANNClassifier:
    X, y = data
    return LANNClassifier(max_iter=1, random_state=0).fit(X, y)


@pytest.fixture
def saved(classifier, tmp_path):
    path = tmp_path / "model.skops"
    save(classifier, path)
    return path


# What comes back ------------------------------------------------------------------------------------------


def test_a_classifier_predicts_the_same_bits(classifier, data, saved):
    X, _ = data
    loaded = load(saved)
    assert type(loaded) is LANNClassifier
    np.testing.assert_array_equal(loaded.predict_proba(X), classifier.predict_proba(X))
    np.testing.assert_array_equal(loaded.predict(X), classifier.predict(X))
    np.testing.assert_array_equal(
        loaded.explain(X[:3]).contributions, classifier.explain(X[:3]).contributions
    )
    assert list(loaded.feature_names_in_) == ["a", "b", "weight [kg]", "größe"]
    assert list(loaded.classes_) == ["down", "up"]
    assert loaded.get_params() == classifier.get_params()
    assert loaded.curves_ is loaded.model_.levels.curves


@pytest.fixture
def stepped() -> LANNClassifier:
    """A model with a curve that jumps."""
    X = np.random.default_rng(0).normal(size=(300, 2))
    model = LANNClassifier(max_iter=2, random_state=0).fit(X, X[:, 0] > 0.3)
    assert model.curves_.jumps.max() > 0.1
    return model


def test_curves_that_jump_are_saved(stepped, tmp_path):
    save(stepped, tmp_path / "m.skops")
    loaded = load(tmp_path / "m.skops")
    np.testing.assert_array_equal(loaded.curves_.thresholds, stepped.curves_.thresholds)
    np.testing.assert_array_equal(loaded.curves_.jumps, stepped.curves_.jumps)
    X = np.array([[-1e-9, 0.0], [0.0, 0.0], [1e-9, 0.0]])
    X[:, 0] += stepped.curves_.thresholds[0, 0]
    np.testing.assert_array_equal(loaded.predict_proba(X), stepped.predict_proba(X))
    copied = pickle.loads(pickle.dumps(stepped))
    np.testing.assert_array_equal(copied.predict_proba(X), stepped.predict_proba(X))


@pytest.mark.parametrize("name", ["thresholds", "jumps"])
@pytest.mark.parametrize("change", [lambda a: a[:, :0], lambda a: a.T[:, :1], lambda a: a.astype(np.float32)])
def test_steps_that_do_not_fit_the_curves_raise(stepped, tmp_path, name, change):
    setattr(stepped.curves_, name, change(getattr(stepped.curves_, name)))
    with pytest.raises(ValueError, match="do not fit together"):
        save(stepped, tmp_path / "m.skops")


@pytest.mark.parametrize("value", [-0.1, np.nan, np.inf])
def test_jumps_that_are_negative_or_not_finite_raise(stepped, tmp_path, value):
    stepped.curves_.jumps[0, 0] = value
    with pytest.raises(ValueError, match="do not fit together"):
        save(stepped, tmp_path / "m.skops")


@pytest.mark.parametrize("y", [[3, 5] * 20, [0.0, 1.0] * 20, [True, False] * 20, ["x", "yy"] * 20])
def test_labels_of_every_kind(y, tmp_path):
    X = np.random.default_rng(1).normal(size=(40, 3))
    model = LANNClassifier(max_iter=0).fit(X, y)
    save(model, tmp_path / "m.skops")
    predicted = load(tmp_path / "m.skops").predict(X)
    assert predicted.dtype == model.predict(X).dtype
    np.testing.assert_array_equal(predicted, model.predict(X))


@pytest.mark.parametrize(
    "parameters",
    [
        {"n_candidates": None},
        {"n_candidates": np.int64(20)},
        {"n_neighbors": "auto", "power": "auto"},
        {"metric": "full", "max_iter": 3},
        {"metric": "low_rank", "n_components": 2, "max_iter": 3},
        {"class_weight": "balanced"},
        {"class_weight": {"up": 2.0, "down": 1.0}},
        {"levels": ("curves", "point")},
    ],
)
def test_parameters_of_every_kind(parameters, data, tmp_path):
    X, y = data
    model = LANNClassifier(random_state=0, **({"max_iter": 1} | parameters)).fit(X, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(X), model.predict_proba(X))


def test_a_loaded_model_goes_on_learning(data, saved):
    X, y = data
    assert load(saved).partial_fit(X[:5], y[:5]).model_.X.shape == (65, 4)


@pytest.mark.parametrize(
    "steps",
    [
        [StandardScaler()],
        [RobustScaler(), PowerTransformer(), PCA(2)],
        [SimpleImputer(), QuantileTransformer(n_quantiles=10), SelectKBest(k=2)],
        [ColumnTransformer([("s", StandardScaler(), ["a"])], remainder="passthrough")],
        [
            ColumnTransformer(
                [
                    ("n", StandardScaler(), make_column_selector(dtype_include=np.number)),
                    ("o", OneHotEncoder(handle_unknown="ignore"), ["color"]),
                    ("r", OrdinalEncoder(), ["color"]),
                ]
            )
        ],
    ],
    ids=["scaler", "pca", "select", "passthrough", "mixed"],
)
def test_a_pipeline_predicts_the_same_bits(steps, data, tmp_path):
    X, y = data
    if "color" in str(steps):
        X = X.assign(color=np.where(X["a"] > 0, "red", "blue"))
    model = make_pipeline(*steps, LANNClassifier(max_iter=1, random_state=0)).fit(X, y)
    save(model, tmp_path / "m.skops")
    np.testing.assert_array_equal(load(tmp_path / "m.skops").predict_proba(X), model.predict_proba(X))


def test_import_lann_does_not_import_skops():
    code = "import sys, lann; sys.exit('skops' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# Invalid models


def save_fails(model, folder, message, error=ValueError):
    """Saving fails with one sentence, and leaves the old file and nothing else."""
    folder.mkdir(exist_ok=True)
    path = folder / "model.skops"
    path.write_bytes(b"old")
    with pytest.raises(error, match=message) as caught:
        save(model, path)
    assert "\n" not in str(caught.value)
    assert os.listdir(folder) == ["model.skops"]
    assert path.read_bytes() == b"old"


def test_saving_something_else_raises(data, tmp_path):
    X, y = data
    save_fails("text", tmp_path, "type str")
    save_fails(LogisticRegression().fit(X, y), tmp_path, "type LogisticRegression")
    save_fails(make_pipeline(StandardScaler(), LogisticRegression()).fit(X, y), tmp_path, "type Pipeline")


def test_saving_an_unfitted_model_raises(tmp_path):
    save_fails(LANNClassifier(), tmp_path, "not fitted", NotFittedError)
    save_fails(make_pipeline(StandardScaler(), LANNClassifier()), tmp_path, "not fitted", NotFittedError)


def double(X):
    return 2 * X


class Own(LANNClassifier):
    pass


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (FunctionTransformer(double), "double"),
        (FunctionTransformer(np.log1p), "log1p"),
        (make_pipeline(StandardScaler(), memory="folder"), "memory"),
    ],
)
def test_a_part_that_cannot_be_loaded_is_named(step, name, data, tmp_path):
    X, y = data
    model = make_pipeline(step, LANNClassifier(max_iter=0))
    if name == "memory":
        step.set_params(memory=None)
    model.fit(X.abs(), y)
    if name == "memory":
        step.set_params(memory="folder")
    save_fails(model, tmp_path / "folder", name)


def test_other_parts_are_named(data, tmp_path):
    X, y = data
    save_fails(Own(max_iter=0).fit(X, y), tmp_path, "Own")
    random = LANNClassifier(max_iter=0, random_state=np.random.RandomState(0)).fit(X, y)
    save_fails(random, tmp_path, "RandomState")


def test_save_leaves_the_old_file_if_writing_fails(classifier, tmp_path, monkeypatch):
    def fail(*args):
        raise OSError("No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    save_fails(classifier, tmp_path, "No space left", OSError)


def test_saving_to_an_invalid_path_raises(classifier, tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder"):
        save(classifier, tmp_path)
    with pytest.raises(FileNotFoundError, match="no folder"):
        save(classifier, tmp_path / "none" / "m.skops")
    assert os.listdir(tmp_path) == []


# Invalid files


class Trap:
    """Marks every way in which loading could run its code."""

    ran: ClassVar[list[str]] = []

    def __new__(cls, *args):
        cls.ran.append("new")
        return super().__new__(cls)

    def __setstate__(self, state):
        self.ran.append("state")

    def __reduce__(self):
        return os.system, ("touch hacked",)


def load_fails(path, message, error=ValueError):
    """Loading fails with one sentence, and nothing from the file has run."""
    Trap.ran.clear()
    with patch("os.system") as system, patch("builtins.eval") as evaluate, pytest.raises(error) as caught:
        load(path)
    assert re.search(message, str(caught.value))
    assert path.name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not system.called
    assert not evaluate.called
    assert not Trap.ran


def rewritten(path, change=None, **replaced):
    """Write the file anew, with `change` applied to the schema and members replaced (None: left out)."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    if change is not None:
        schema = json.loads(members["schema.json"])
        members["schema.json"] = json.dumps(change(schema) or schema).encode()
    for name, content in replaced.items():
        members[name.replace("__", ".")] = content
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            if content is not None:
                archive.writestr(name, content)
    return path


def attributes(schema):
    return schema["content"]["content"]


def node(loader, type_name, **fields):
    module, _, name = type_name.rpartition(".")
    return {"__class__": name, "__module__": module, "__loader__": loader, "__id__": 1, **fields}


def text_node(text, id=2):
    return node("JsonNode", "builtins.str", content=json.dumps(text), is_json=True) | {"__id__": id}


def tuple_node(*items):
    return node("TupleNode", "builtins.tuple", content=list(items)) | {"__id__": 3}


TRAP = f"{Trap.__module__}.Trap"

HOSTILE = {
    "function": node("FunctionNode", "os.system"),
    "eval": node("FunctionNode", "builtins.eval"),
    "type": node("TypeNode", "builtins.eval"),
    "trusted by skops": node("FunctionNode", "numpy.sqrt"),
    "ufunc as object": node("ObjectNode", "numpy.sqrt"),
    "constructor": node(
        "ConstructorFromReduceNode", "os.system", content=tuple_node(text_node("touch hacked"))
    ),
    "object": node("ObjectNode", TRAP),
    "list of a class": node("ListNode", TRAP, content=[]),
    "array of a class": node("NdArrayNode", TRAP, type="json", content=[], shape=tuple_node()),
    "partial": node("PartialNode", "functools.partial", content={}),
    "method": node("MethodNode", "os.system", content={"func": "x", "obj": text_node("a")}),
    "operator": node("OperatorFuncNode", "operator.methodcaller", attrs=tuple_node(text_node("x"))),
    "reduce": node("LossNode", "os.system", content=tuple_node(), __reduce__={"args": tuple_node()}),
    "tree": node(
        "TreeNode", "sklearn.tree._tree.Tree", content=tuple_node(), __reduce__={"args": tuple_node()}
    ),
    "generator": node("RandomGeneratorNode", "numpy.random._generator.Generator", content={}),
    "bytes": node("BytesNode", "builtins.bytes", file="../../etc/passwd"),
    "estimator of scikit-learn": node("ObjectNode", "sklearn.linear_model._logistic.LogisticRegression"),
    "cached": node("CachedNode", "builtins.str"),
    "unknown": node("EvilNode", "os.system"),
}


@pytest.mark.parametrize("hostile", HOSTILE.values(), ids=HOSTILE)
@pytest.mark.parametrize("place", ["attribute", "root", "inside a list", "key type"])
def test_types_that_are_not_on_the_list_are_named(hostile, place, saved):
    def change(schema):
        if place == "root":
            return hostile | {"protocol": 2}
        if place == "attribute":
            attributes(schema)["alpha"] = hostile
        elif place == "inside a list":
            attributes(schema)["loss_curve_"]["content"].append(hostile)
        else:
            schema["content"]["key_types"]["content"][0] = hostile
        return None

    name = f"{hostile['__module__']}.{hostile['__class__']}".replace(".", r"\.")
    load_fails(rewritten(saved, change), name)


def test_a_function_of_the_function_transformer_raises(data, tmp_path):
    X, y = data
    columns = ColumnTransformer([("s", StandardScaler(), ["a"])], remainder="passthrough")
    save(make_pipeline(columns, LANNClassifier(max_iter=0)).fit(X, y), tmp_path / "m.skops")

    def change(found):
        if isinstance(found, dict):
            if found.get("__class__") == "FunctionTransformer":
                found["content"]["content"]["func"] = node("TypeNode", "builtins.str")
            for value in found.values():
                change(value)
        elif isinstance(found, list):
            for value in found:
                change(value)

    load_fails(rewritten(tmp_path / "m.skops", change), "FunctionTransformer has func")


def test_one_id_for_two_objects_raises(saved):
    def change(schema):
        penalty, smoothing = attributes(schema)["alpha"], attributes(schema)["smoothing"]
        smoothing["__id__"] = penalty["__id__"]

    load_fails(rewritten(saved, change), "one number to different objects")


def deep(schema):
    for _ in range(150):
        schema = node("ListNode", "builtins.list", content=[schema])
    return schema | {"protocol": 2}


def without(found, name):
    del found[name]


BROKEN_SCHEMAS = {
    "missing array": lambda s: attributes(s)["classes_"].update(file="1.npy"),
    "array elsewhere": lambda s: attributes(s)["classes_"].update(file="../../etc/passwd"),
    "schema as array": lambda s: attributes(s)["classes_"].update(file="schema.json"),
    "unknown kind of array": lambda s: attributes(s)["classes_"].update(type="pickle"),
    "unknown field": lambda s: attributes(s)["alpha"].update(more=1),
    "no loader": lambda s: without(attributes(s)["alpha"], "__loader__"),
    "number for a name": lambda s: attributes(s)["alpha"].update(__class__=5),
    "no attributes": lambda s: without(s, "content"),
    "content of another kind": lambda s: attributes(s)["loss_curve_"].update(content=7),
    "json that is none": lambda s: attributes(s)["alpha"].update(content="{"),
    "json that is a list": lambda s: attributes(s)["alpha"].update(content="[[[]]]"),
    "no protocol": lambda s: without(s, "protocol"),
    "newer protocol": lambda s: s.update(protocol=99),
    "older protocol": lambda s: s.update(protocol=0),
    "protocol of another kind": lambda s: s.update(protocol=True),
    "a list": lambda s: [s],
    "deep": deep,
    "no model inside": lambda s: text_node("model") | {"protocol": 2},
    "attribute missing": lambda s: without(attributes(s), "classes_"),
    "counts that do not fit": lambda s: attributes(s)["n_features_in_"].update(content="3", __id__=5),
}


@pytest.mark.parametrize("change", BROKEN_SCHEMAS.values(), ids=BROKEN_SCHEMAS)
def test_broken_schemas_get_one_sentence(change, saved):
    load_fails(rewritten(saved, change), "cannot be loaded: .*\\.$")


def test_files_that_are_no_model_get_one_sentence(saved):
    content = saved.read_bytes()
    foreign = [b"", b"a,b\n1,2\n", bytes(1000), pickle.dumps({"a": 1}), b"cos\nsystem\n(S'touch hacked'\ntR."]
    truncated = [content[:-30], content[: len(content) // 2], content[100:5000]]
    for wrong in [*foreign, *truncated]:
        saved.write_bytes(wrong)
        load_fails(saved, "not a whole file written by lann.save")


def test_a_damaged_byte_is_noticed(saved):
    content = bytearray(saved.read_bytes())
    content[len(content) // 4] ^= 0xFF
    saved.write_bytes(content)
    load_fails(saved, "damaged|not have the size|not among")


@pytest.mark.parametrize("member", ["schema.json", "lann.json"])
def test_missing_or_broken_members_get_one_sentence(member, saved):
    name = member.replace(".", "__")
    content = saved.read_bytes()
    load_fails(rewritten(saved, **{name: None}), "not written by lann.save")
    for broken in (b"{", b"\xff\xfe", b"[" * 100_000, b"null"):
        saved.write_bytes(content)
        load_fails(rewritten(saved, **{name: broken}), "cannot be loaded")


def test_a_newer_format_is_said_to_be_newer(saved):
    load_fails(
        rewritten(saved, lann__json=b'{"format": 2, "lann": "9.0"}'), "written by lann 9.0 .* update lann"
    )


def array_file(saved) -> str:
    with zipfile.ZipFile(saved) as archive:
        return next(name for name in archive.namelist() if name.endswith(".npy"))


def test_object_arrays_are_not_unpickled(saved):
    buffer = io.BytesIO()
    np.save(buffer, np.array([object.__new__(Trap)], dtype=object), allow_pickle=True)
    load_fails(rewritten(saved, **{array_file(saved): buffer.getvalue()}), "type object")


def test_arrays_of_absurd_size_are_not_allocated(saved):
    buffer = io.BytesIO()
    header = {"descr": "<f8", "fortran_order": False, "shape": (2**50, 2**10)}
    np.lib.format.write_array_header_1_0(buffer, header)
    load_fails(rewritten(saved, **{array_file(saved): buffer.getvalue()}), "not have the size of its header")


def test_arrays_that_are_something_else_raise(saved):
    load_fails(rewritten(saved, **{array_file(saved): pickle.dumps([1])}), "damaged")


def test_zip_bombs_are_not_unpacked(saved):
    with zipfile.ZipFile(saved, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("1.npy", bytes(10_000_000))
    load_fails(saved, "compressed")


def test_two_members_of_one_name_raise(saved):
    with zipfile.ZipFile(saved, "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("schema.json", b"{}")
    load_fails(saved, "overlap")


def test_sample_weights_are_saved(data, tmp_path):
    X, y = data
    weights = np.random.default_rng(0).uniform(0.1, 0.9, len(X))
    model = LANNClassifier(max_iter=1, random_state=0).fit(X, y, sample_weight=weights)
    save(model, tmp_path / "m.skops")
    loaded = load(tmp_path / "m.skops")
    np.testing.assert_allclose(loaded.model_.row_weights, weights / weights.mean())
    np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
    # The unit of the weights is that of the first call.
    for one in (model, loaded):
        one.partial_fit(X[:5], y[:5], sample_weight=weights[:5])
    np.testing.assert_array_equal(loaded.model_.row_weights, model.model_.row_weights)
    np.testing.assert_array_equal(loaded.model_.row_weights[-5:], model.model_.row_weights[:5])


@pytest.mark.parametrize(
    "change",
    [
        lambda weights: weights[:-1],
        lambda weights: weights[:, None],
        lambda weights: weights.astype(np.float32),
        lambda weights: np.where(weights > 1, -1.0, weights),
        lambda weights: np.zeros(len(weights)),
        lambda weights: np.where(weights > 1, np.nan, weights),
        lambda weights: np.where(weights > 1, np.inf, weights),
        lambda weights: np.where(weights > 1, 1e200, weights),
        lambda weights: weights.tolist(),
    ],
)
def test_sample_weights_that_are_invalid_raise(change, data, tmp_path):
    X, y = data
    model = LANNClassifier(max_iter=0).fit(X, y, sample_weight=1.0 + np.arange(len(X)) % 3)
    save(model, tmp_path / "m.skops")
    changed = change(model.model_.row_weights)
    model.model_.levels = model.model_.levels.replace(row_weights=changed)
    model.model_.row_weights = changed
    with pytest.raises(ValueError, match="do not fit together"):
        save(model, tmp_path / "m.skops")


@pytest.mark.parametrize("unit", [0.0, -1.0, 2.0, np.nan, "1", None])
def test_an_invalid_unit_of_sample_weights_raises(unit, data, tmp_path):
    X, y = data
    model = LANNClassifier(max_iter=0).fit(X, y)
    model._weight_unit = unit
    with pytest.raises(ValueError, match="do not fit together"):
        save(model, tmp_path / "m.skops")


def test_other_weights_in_the_model_than_in_its_levels_raise(data, tmp_path):
    X, y = data
    model = LANNClassifier(max_iter=0).fit(X, y)
    model.model_.row_weights = np.ones(len(X))
    with pytest.raises(ValueError, match="do not fit together"):
        save(model, tmp_path / "m.skops")


def test_labels_out_of_range_raise(classifier, data, tmp_path):
    """The compiled loops would read past the ends of arrays."""
    X, y = data
    model = LANNClassifier(max_iter=0).fit(X, y)
    path = tmp_path / "m.skops"
    save(model, path)
    labels = model.model_.labels
    with zipfile.ZipFile(path) as archive:
        files = {
            name: np.load(io.BytesIO(archive.read(name))) for name in archive.namelist() if ".npy" in name
        }
    file = next(
        name for name, array in files.items() if array.dtype == labels.dtype and len(array) == len(labels)
    )
    buffer = io.BytesIO()
    np.save(buffer, labels + 1_000_000)
    load_fails(rewritten(path, **{file: buffer.getvalue()}), "do not fit together")


def test_landmarks_are_saved_once_they_were_computed(data, tmp_path, monkeypatch):
    X, y = data
    model = LANNClassifier(max_iter=1, random_state=0).fit(X, y)
    save(model, tmp_path / "before.skops")
    expected = model.explain(X[:5])
    save(model, tmp_path / "after.skops")
    assert load(tmp_path / "before.skops").model_.derived == {}
    loaded = load(tmp_path / "after.skops")
    monkeypatch.setattr("lann.explain._landmarks.compute_landmarks", None)  # nothing is computed again
    np.testing.assert_array_equal(loaded.explain(X[:5]).supports, expected.supports)


@pytest.mark.parametrize(
    "change",
    [
        lambda landmarks: landmarks.rows.__iadd__(1000),
        lambda landmarks: setattr(landmarks, "rows", landmarks.rows[:-1]),
        lambda landmarks: setattr(landmarks, "correlated", ((0, 4),)),
        lambda landmarks: landmarks.readings.supports.__imul__(np.nan),
    ],
)
def test_landmarks_that_do_not_fit_the_model_raise(data, tmp_path, change):
    X, y = data
    model = LANNClassifier(max_iter=0).fit(X, y)
    model.explain(X[:2])
    change(model.model_.derived["landmarks"])
    with pytest.raises(ValueError, match="do not fit together"):
        save(model, tmp_path / "m.skops")


def test_loading_from_an_invalid_path_raises(tmp_path):
    load_fails(tmp_path / "none.skops", "There is no file", FileNotFoundError)
    load_fails(tmp_path, "is a folder", IsADirectoryError)


def test_callbacks_are_not_part_of_a_model(tmp_path):
    callback = pytest.importorskip("sklearn.callback")
    from sklearn.datasets import load_iris
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from lann import LANNClassifier, load, save

    X, y = load_iris(return_X_y=True)
    for model in (LANNClassifier(), make_pipeline(StandardScaler(), LANNClassifier())):
        model.set_callbacks(callback.ProgressBar()).fit(X, y)
        save(model, tmp_path / "model.skops")
        assert (load(tmp_path / "model.skops").predict(X) == model.predict(X)).all()

"""Models in shards as folders: round trips, and one sentence for folders that are damaged or hostile."""

import json
import os
import shutil

import dask.array as da
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

import lann
from lann.distributed import DaskLANN


@pytest.fixture(scope="module")
def fitted(wine):
    """A classifier with three shards, and the folder in which it was saved."""
    import lann.training._train

    X, y = wine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lann.training._train, "TILE_ROWS", 40)
        clf = DaskLANN(random_state=0, max_iter=2, class_weight="balanced", rows_per_shard=60)
        return clf.fit(da.from_array(X, chunks=(50, 13)), np.array(["a", "b", "c"])[y])


@pytest.fixture(scope="module")
def saved(fitted, tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards") / "model"
    lann.save(fitted, folder)
    return folder


@pytest.fixture
def folder(saved, tmp_path):
    """A copy of the folder, to be changed."""
    return shutil.copytree(saved, tmp_path / "copy")


def edit(folder, **changes):
    manifest = json.loads((folder / "shards.json").read_text())
    (folder / "shards.json").write_text(json.dumps(manifest | changes))
    return manifest


def test_a_loaded_model_is_the_same(fitted, saved, wine):
    queries = wine[0] + 0.1
    loaded = lann.load(saved)
    assert loaded.n_shards_ == fitted.n_shards_ == 3
    np.testing.assert_array_equal(loaded.predict_proba(queries), fitted.predict_proba(queries))
    for found, expected in zip(loaded.kneighbors(queries, 20), fitted.kneighbors(queries, 20), strict=True):
        np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(
        loaded.explain(queries[:2]).neighbor_ids, fitted.explain(queries[:2]).neighbor_ids
    )
    assert loaded.get_params() == fitted.get_params()
    assert (loaded.levels_, loaded.n_iter_, loaded.schema_) == (
        fitted.levels_,
        fitted.n_iter_,
        fitted.schema_,
    )
    np.testing.assert_array_equal(loaded.tile_losses_, fitted.tile_losses_)


def test_every_shard_is_a_model_file_of_the_ordinary_classifier(fitted, saved):
    files = sorted(path.name for path in saved.iterdir())
    assert files == ["shard-00000.lann", "shard-00001.lann", "shard-00002.lann", "shards.json", "shared.lann"]
    shards = [lann.load(saved / name) for name in files[:3]]
    assert all(type(shard) is lann.LANNClassifier for shard in shards)
    assert sorted(np.concatenate([shard.ids_ for shard in shards])) == list(range(178))


def test_a_folder_is_replaced_by_the_same_bytes(fitted, folder):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    lann.save(lann.load(folder), folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["copy"]


def test_an_earlier_folder_is_kept_if_it_cannot_be_replaced(fitted, folder, monkeypatch):
    import lann.persist._model_file

    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    move = os.replace

    def fail_for_the_new_one(source, target):
        if str(source).endswith(".tmp") and str(target) == str(folder):
            raise PermissionError("the folder is in use")
        move(source, target)

    monkeypatch.setattr(lann.persist._model_file.os, "replace", fail_for_the_new_one)
    with pytest.raises(PermissionError, match="in use"):
        lann.save(fitted, folder)
    monkeypatch.undo()
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    assert [path.name for path in folder.parent.iterdir()] == ["copy"]


def test_what_cannot_be_saved(fitted, tmp_path):
    with pytest.raises(NotFittedError):
        lann.save(DaskLANN(), tmp_path / "model")
    (tmp_path / "file").write_text("")
    (tmp_path / "other").mkdir()
    for name in ("file", "other"):
        with pytest.raises(FileExistsError, match="no model in shards"):
            lann.save(fitted, tmp_path / name)
    with pytest.raises(FileNotFoundError, match="no folder"):
        lann.save(fitted, tmp_path / "nothing" / "model")
    with pytest.raises(ValueError, match="without table and progress"):
        lann.persist.save(fitted, tmp_path / "model", progress={"n": 1})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "other"]


def damage(folder):
    content = (folder / "shard-00001.lann").read_bytes()
    (folder / "shard-00001.lann").write_bytes(content[: len(content) // 2])


def exchange(folder):
    shutil.copy(folder / "shard-00000.lann", folder / "shard-00001.lann")


def put_another_model(folder):
    X = np.random.default_rng(0).normal(size=(40, 13))
    other = lann.LANNClassifier(max_iter=0).fit(X, np.repeat(["a", "b", "c", "c"], 10))
    lann.save(other, folder / "shard-00000.lann")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage, "of its file shard-00001.lann, it is not a whole file"),
        (exchange, "each of them once"),
        (lambda folder: edit(folder, n_shards=2), "each of them once"),
        (put_another_model, "shard-00000.lann is of another model"),
        (lambda folder: (folder / "shard-00001.lann").unlink(), "shard-00001.lann is missing"),
        (lambda folder: (folder / "shared.lann").unlink(), "shared.lann is missing"),
        (lambda folder: (folder / "shards.json").write_text("{"), "not valid JSON"),
        (lambda folder: (folder / "shards.json").write_text("[]"), "in which format"),
        (lambda folder: edit(folder, format=2, lann="9.0"), "written by lann '9.0' in format 2"),
        (lambda folder: edit(folder, further=1), "with the fields"),
        (lambda folder: edit(folder, n_shards=10**9), "n_shards has to be"),
        (lambda folder: edit(folder, tile_losses=[[1.0], []]), "tile_losses"),
    ],
)
def test_invalid_folders_raise_one_sentence(folder, change, message):
    change(folder)
    with pytest.raises(ValueError, match=message) as raised:
        lann.load(folder)
    assert str(raised.value).startswith(f"{folder} cannot be loaded: ")
    assert "\n" not in str(raised.value)

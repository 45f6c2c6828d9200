"""Models in shards as folders: round trips, and one sentence for folders that are damaged or hostile."""

import json
import os
import shutil
import stat

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


def test_a_folder_keeps_its_mode_and_the_links_to_it(fitted, folder, monkeypatch):
    folder.chmod(0o700)
    link, name = folder.with_name("link"), "x" * 255
    link.symlink_to("copy")
    monkeypatch.setattr(os, "replace", _then(os.replace, seen := []))
    lann.save(fitted, link)
    assert os.readlink(link) == "copy"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert [mode for source, mode in seen if source.endswith(".tmp") and stat.S_ISDIR(mode)] == [0o40700]
    link.unlink()
    link.symlink_to(name)
    lann.save(fitted, link)
    assert sorted(path.name for path in folder.parent.iterdir()) == ["copy", "link", name]


def _then(replace, seen):
    """Return a function that adds the mode of what is renamed to a list first."""

    def call(source, target):
        seen.append((str(source), os.stat(source).st_mode))
        replace(source, target)

    return call


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
    content = bytearray((folder / "shard-00001.lann").read_bytes())
    content[len(content) // 2] ^= 1
    (folder / "shard-00001.lann").write_bytes(content)


def exchange(folder):
    shutil.copy(folder / "shard-00000.lann", folder / "shard-00001.lann")
    shards = json.loads((folder / "shards.json").read_text())["shards"]
    edit(folder, shards=shards | {"shard-00001.lann": shards["shard-00000.lann"]})


def leave_out(folder):
    shards = json.loads((folder / "shards.json").read_text())["shards"]
    del shards["shard-00002.lann"]
    edit(folder, shards=shards)


def put_another_model(folder):
    import hashlib

    rng = np.random.default_rng(0)
    other = lann.LANNClassifier(max_iter=0).fit(
        rng.normal(size=(40, 13)), np.repeat(["a", "b", "c", "c"], 10)
    )
    lann.save(other, folder / "shard-00000.lann")
    found = hashlib.sha256((folder / "shard-00000.lann").read_bytes()).hexdigest()
    shards = json.loads((folder / "shards.json").read_text())["shards"]
    edit(folder, shards=shards | {"shard-00000.lann": found})


HASH = "0" * 64


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (damage, "shard-00001.lann is not the one that was saved"),
        (exchange, "each of them once"),
        (leave_out, "each of them once"),
        (put_another_model, "shard-00000.lann is of another model"),
        (lambda folder: (folder / "shard-00001.lann").unlink(), "shard-00001.lann is missing"),
        (lambda folder: (folder / "shared.lann").unlink(), "shared.lann is missing"),
        (lambda folder: (folder / "shards.json").write_text("{"), "not valid JSON"),
        (lambda folder: (folder / "shards.json").write_text("[]"), "in which format"),
        (lambda folder: edit(folder, format=2, lann="9.0"), "written by lann '9.0' in format 2"),
        (lambda folder: edit(folder, further=1), "with the fields"),
        (lambda folder: edit(folder, rows_per_shard=0), "rows_per_shard has to be"),
        (lambda folder: edit(folder, shards={}), "shards has to be files"),
        (lambda folder: edit(folder, shards={"../x.lann": HASH}), "shards has to be files"),
        (lambda folder: edit(folder, shards={"shard-00000.lann": 3}), "shards has to be files"),
        (lambda folder: edit(folder, shared=HASH), "shared.lann is not the one that was saved"),
        (lambda folder: edit(folder, tile_losses=[[1.0], []]), "tile_losses"),
        (lambda folder: edit(folder, tile_losses=[["x"]]), "tile_losses"),
    ],
)
def test_invalid_folders_raise_one_sentence(folder, change, message):
    change(folder)
    with pytest.raises(ValueError, match=message) as raised:
        lann.load(folder)
    assert str(raised.value).startswith(f"{folder} cannot be loaded: ")
    assert "\n" not in str(raised.value)


def test_a_folder_without_a_manifest_is_no_model(tmp_path):
    with pytest.raises(IsADirectoryError, match="is a folder, not a model file"):
        lann.load(tmp_path)


def test_files_keep_their_mode(folder):
    model = lann.load(folder)
    for file in folder.iterdir():
        file.chmod(0o600)
    lann.save(model, folder)
    assert {file.stat().st_mode & 0o777 for file in folder.iterdir()} == {0o600}

import json
from dataclasses import replace

import pytest

from benchmarks.engine import Job
from benchmarks.engine.store import Store, Stored

FOUND = Stored({"knn": {"accuracy": 0.1 + 0.2, "ece": None, "aucs": [1 / 3]}}, 1.5)


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


@pytest.fixture
def job():
    return Job("part", "knn", "wine", 0, dict, fingerprint={"k": 5})


def test_what_is_saved_is_loaded_as_it_was(store, job):
    store.save(job, FOUND)
    assert store.load(job) == FOUND
    assert store.load(replace(job, repeat=1)) is None
    assert store.load(replace(job, data_set="iris")) is None
    assert store.load(replace(job, part="other")) is None


def test_repeats_share_a_file_in_their_order(store, job):
    for repeat in (10, 2):
        store.save(replace(job, repeat=repeat), FOUND)
    assert list(json.loads(store.path(job).read_text())) == ["2", "10"]
    assert len(list(store.folder.rglob("*.json"))) == 1


def test_a_measurement_with_another_fingerprint_is_out_of_date(store, job):
    store.save(job, FOUND)
    changed = replace(job, fingerprint={"k": 7})
    assert store.load(changed) is None
    store.save(replace(changed, repeat=1), FOUND)
    assert store.load(job) == FOUND
    assert store.load(replace(job, repeat=1)) is None


def test_without_a_fingerprint_nothing_is_stored(store, job):
    unstored = replace(job, fingerprint=None)
    store.save(unstored, FOUND)
    assert store.load(unstored) is None
    assert not store.folder.exists()


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"0": {}}', b'{"0": 1, "x": 2}', b"\xff"])
def test_a_damaged_file_is_ignored_and_replaced(store, job, content):
    store.path(job).parent.mkdir(parents=True)
    store.path(job).write_bytes(content)
    assert store.load(job) is None
    store.save(job, FOUND)
    assert store.load(job) == FOUND


def test_discarding_deletes_one_file_and_may_find_none(store, job):
    other = replace(job, data_set="iris")
    store.save(job, FOUND)
    store.save(other, FOUND)
    store.discard(job)
    store.discard(job)
    assert store.load(job) is None
    assert store.load(other) == FOUND


def test_names_are_made_fit_for_files(store, job):
    path = store.path(replace(job, method="../evil", data_set="planted, 8 features"))
    assert path == store.folder / "part" / "evil" / "planted-8-features.json"

import json

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier, NeighborhoodComponentsAnalysis
from sklearn.pipeline import make_pipeline

from lann import LANNClassifier
from lann.bench import store as module
from lann.bench.store import Store, about, digest_of


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path, "paper", 0)


def test_what_is_kept_comes_back_as_it_was(store, measurement):
    depends = about(KNeighborsClassifier(), "data")
    first, second = measurement(1 / 3, log_loss=None, ece=None), measurement(0.1 + 0.2)
    store.keep("knn", "wine", depends, 4, second)
    store.keep("knn", "wine", depends, 0, first)
    assert store.kept("knn", "wine", depends) == {0: first, 4: second}
    assert list(json.loads(store.path("knn", "wine").read_text())["splits"]) == ["0", "4"]
    assert store.kept("knn", "iris", depends) == {}


def test_each_seed_and_protocol_has_its_own(tmp_path, measurement):
    depends = about(KNeighborsClassifier(), "data")
    Store(tmp_path, "paper", 0).keep("knn", "wine", depends, 0, measurement())
    assert Store(tmp_path, "paper", 1000).kept("knn", "wine", depends) == {}
    assert Store(tmp_path, "cv", 0).kept("knn", "wine", depends) == {}


def test_stale_results_are_not_found_and_not_mixed_in(store, measurement):
    old, new = (about(KNeighborsClassifier(k), "data") for k in (5, 7))
    store.keep("knn", "wine", old, 0, measurement(0.5))
    assert store.kept("knn", "wine", new) == {}
    store.keep("knn", "wine", new, 1, measurement(0.6))
    assert list(store.kept("knn", "wine", new)) == [1]
    assert store.kept("knn", "wine", old) == {}


@pytest.mark.parametrize(
    "content", [b"", b"{", b"[]", b'{"about": {}}', b'{"about": 1, "splits": []}', b"\xff"]
)
def test_a_damaged_file_is_as_good_as_none(store, measurement, content):
    depends = about(KNeighborsClassifier(), "data")
    store.path("knn", "wine").parent.mkdir(parents=True)
    store.path("knn", "wine").write_bytes(content)
    assert store.kept("knn", "wine", depends) == {}
    store.keep("knn", "wine", depends, 0, measurement())
    assert list(store.kept("knn", "wine", depends)) == [0]


def test_discarding_is_for_one_file_and_may_find_none(store, measurement):
    depends = about(KNeighborsClassifier(), "data")
    for name in ("wine", "iris"):
        store.keep("knn", name, depends, 0, measurement())
    store.discard("knn", "wine")
    store.discard("knn", "wine")
    assert store.kept("knn", "wine", depends) == {}
    assert list(store.kept("knn", "iris", depends)) == [0]


def test_everything_that_matters_is_part_of_what_it_is_about(monkeypatch):
    def pipeline(n_neighbors=5, max_iter=50):
        return make_pipeline(
            NeighborhoodComponentsAnalysis(max_iter=max_iter, callback=print),
            KNeighborsClassifier(n_neighbors),
        )

    usual = about(pipeline(), "data")
    assert usual == about(pipeline(), "data")
    assert json.loads(json.dumps(usual)) == usual  # as it comes back from a file
    assert usual != about(pipeline(n_neighbors=7), "data")
    assert usual != about(pipeline(max_iter=51), "data")
    assert usual != about(pipeline(), "other data")
    assert usual != about(pipeline(), "data", n_jobs=2)
    assert about(LANNClassifier(), "") != about(LANNClassifier(alpha=2.0), "")
    monkeypatch.setattr(module.sklearn, "__version__", "0.0")
    assert usual != about(pipeline(), "data")


def test_the_code_of_this_library_counts(monkeypatch):
    before = about(LANNClassifier(), ""), about(KNeighborsClassifier(), "")
    monkeypatch.setattr(module, "code_digest", lambda name: "new" if name.startswith("lann.") else "")
    assert about(LANNClassifier(), "") != before[0]
    after = about(KNeighborsClassifier(), "")
    assert after["code"] == before[1]["code"]
    assert after["measured by"] != before[1]["measured by"]


def test_the_digest_of_data_sees_labels_and_shape():
    X, y = np.arange(12.0).reshape(4, 3), np.array([0, 1, 0, 1])
    assert digest_of(X, y) == digest_of(X.copy(), y.copy())
    assert (
        len({digest_of(X, y), digest_of(X, 1 - y), digest_of(X.reshape(3, 4), y), digest_of(X + 1, y)}) == 4
    )

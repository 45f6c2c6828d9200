"""Where neighbors are searched: names of devices, what is missing, and a GPU that is the CPU of torch."""

import pickle
import subprocess
import sys
from copy import deepcopy

import numpy as np
import pytest

from lann import LANNClassifier, LANNRegressor
from lann._support.inputs import on_host
from lann.baselines import LMNN
from lann.search import _device


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 4))
    return X, (X[:, 0] + X[:, 1] ** 2 > 0.7).astype(int)


@pytest.fixture(scope="module")
def fitted(data):
    return LANNClassifier(max_iter=2, random_state=0).fit(*data)


@pytest.fixture
def gpu(monkeypatch):
    """A GPU that is the CPU of torch, which "auto" takes for any number of queries."""
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(_device, "GPU", "cpu")
    monkeypatch.setattr(_device, "FEWEST_PAIRS", 0)
    monkeypatch.setattr(_device, "_has_gpu", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    return torch


def test_names_of_devices_are_validated(fitted):
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda' or 'auto'; got 'tpu'"):
        fitted.to("tpu")
    assert fitted.to("cpu") is fitted


def test_missing_torch_is_one_sentence(fitted, data, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=r"device='cuda' needs torch: pip install 'lann\[gpu\]'\."):
        deepcopy(fitted).to("cuda")
    monkeypatch.setattr(_device, "FEWEST_PAIRS", 0)
    _device._has_gpu.cache_clear()
    found = deepcopy(fitted).to("auto").predict(data[0])
    _device._has_gpu.cache_clear()
    np.testing.assert_array_equal(found, fitted.predict(data[0]))


def test_a_missing_gpu_is_one_sentence(fitted, monkeypatch):
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(ValueError, match="needs a GPU, and torch finds none"):
        deepcopy(fitted).to("cuda")


@pytest.mark.parametrize("device", ["cuda", "auto"])
@pytest.mark.parametrize("parameters", [{}, {"n_candidates": None}, {"metric": "full"}])
def test_the_results_are_those_of_the_cpu(data, gpu, device, parameters):
    X, y = data
    X = np.where(np.random.default_rng(1).random(X.shape) < 0.02, np.nan, X)
    on_cpu = LANNClassifier(max_iter=1, random_state=0, **parameters).fit(data[0], y)
    on_gpu = deepcopy(on_cpu).to(device)
    for rows in (X, X[:3]):
        np.testing.assert_array_equal(on_gpu.predict_proba(rows), on_cpu.predict_proba(rows))
        np.testing.assert_array_equal(on_gpu.predict(rows), on_cpu.predict(rows))
        found, expected = on_gpu.kneighbors(rows, 9), on_cpu.kneighbors(rows, 9)
        np.testing.assert_array_equal(found[0], expected[0])
        np.testing.assert_array_equal(found[1], expected[1])
        explained = on_gpu.explain(rows)
        np.testing.assert_array_equal(explained.neighbors, on_cpu.explain(rows).neighbors)


def test_values_are_those_of_the_cpu(data, gpu, monkeypatch):
    monkeypatch.setattr("lann._base.BLOCK_QUERIES", 64)
    X, y = data
    on_cpu = LANNRegressor(max_iter=1, random_state=0, n_jobs=2).fit(X, X[:, 1] + y)
    on_gpu = deepcopy(on_cpu).to("cuda")
    np.testing.assert_array_equal(on_gpu.predict(X), on_cpu.predict(X))
    np.testing.assert_array_equal(on_gpu.predict_interval(X), on_cpu.predict_interval(X))


def test_blocks_on_threads_are_in_order(fitted, data, gpu, monkeypatch):
    monkeypatch.setattr("lann._base.BLOCK_QUERIES", 64)
    expected = fitted.predict_proba(data[0])
    on_gpu = deepcopy(fitted).set_params(n_jobs=3).to("cuda")
    np.testing.assert_array_equal(on_gpu.predict_proba(data[0]), expected)


def test_the_device_remains_after_updates_but_not_in_copies(fitted, data, gpu):
    clf = deepcopy(fitted).to("cuda")
    assert clf.model_.device == "cuda"
    clf.partial_fit(*(values[:5] for values in data))
    assert clf.model_.device == "cuda"
    for copy in (deepcopy(clf), pickle.loads(pickle.dumps(clf))):
        assert copy.model_.device == "cpu"
    assert clf.to("cpu").model_.device == "cpu"


def test_models_that_search_on_the_cpu_say_so(data, gpu):
    model = LMNN(max_iter=1).fit(*data)
    with pytest.raises(ValueError, match="searches on the CPU only"):
        model.to("cuda")
    assert model.to("auto") is model


def test_arrays_of_a_gpu_are_copied(fitted, data, gpu):
    class OnGPU:
        """An array whose first answer is that it is in the memory of a GPU."""

        def __init__(self, values):
            self.values, self.answers = gpu.tensor(values), iter([2])

        def __dlpack_device__(self):
            return next(self.answers, 1), 0

        def __dlpack__(self, **options):
            return self.values.__dlpack__()

    rows = data[0][:20]
    np.testing.assert_array_equal(on_host(OnGPU(rows)), rows)
    np.testing.assert_array_equal(fitted.predict_proba(OnGPU(rows)), fitted.predict_proba(rows))
    np.testing.assert_array_equal(fitted.predict_proba(gpu.tensor(rows)), fitted.predict_proba(rows))


def test_torch_is_not_imported_without_a_gpu():
    code = (
        "import sys; from sklearn.datasets import load_iris; from lann import LANNClassifier\n"
        "X, y = load_iris(return_X_y=True)\n"
        "LANNClassifier(max_iter=1).fit(X, y).to('auto').predict(X)\n"
        "assert 'torch' not in sys.modules"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

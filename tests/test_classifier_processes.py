"""The classifier in threads, processes, pipelines and grid searches."""

import hashlib
import pickle

import numpy as np
import pytest
from joblib import Parallel, delayed
from sklearn.base import clone

from lann import LANNClassifier


def quick(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 2} | options))


@pytest.fixture(params=[{}, {"n_candidates": None}, {"levels": ("point",)}])
def fitted(request, wine):
    return quick(**request.param).fit(*wine)


def test_loky_workers(wine):
    model = quick().fit(*wine)
    expected = model.predict_proba(wine[0])
    results = Parallel(n_jobs=2, backend="loky")(
        delayed(lambda clf, X, y: (clf.predict_proba(X), clone(clf).fit(X, y).predict_proba(X)))(model, *wine)
        for _ in range(2)
    )
    assert len(results) == 2
    for from_fitted, from_fit in results:
        np.testing.assert_array_equal(from_fitted, expected)
        np.testing.assert_array_equal(from_fit, expected)


@pytest.mark.parametrize("level", ["baseline", "avx2"])
@pytest.mark.parametrize("metric", ["diagonal", "full"])
def test_any_instruction_set_gives_the_same_bits(metric, level, wine, in_new_process):
    clf = quick(metric=metric, n_jobs=2).fit(*wine)
    explanation = clf.explain(wine[0] + 0.1)
    expected = clf.predict_proba(wine[0] + 0.1), explanation.relevances, explanation.supports
    digest = in_new_process(
        f"""
        import hashlib, json, os
        os.environ["LANN_SIMD"] = "{level}"
        from sklearn.datasets import load_wine
        from lann import LANNClassifier
        X, y = load_wine(return_X_y=True)
        clf = LANNClassifier(random_state=0, max_iter=2, metric="{metric}", n_jobs=1).fit(X, y)
        explanation = clf.explain(X + 0.1)
        found = clf.predict_proba(X + 0.1), explanation.relevances, explanation.supports
        print(json.dumps(hashlib.sha256(b"".join(values.tobytes() for values in found)).hexdigest()))
        """
    )
    assert digest == hashlib.sha256(b"".join(values.tobytes() for values in expected)).hexdigest()


def test_a_pickle_holds_the_model_and_no_search(fitted, wine):
    X, _ = wine
    fresh = pickle.dumps(fitted)
    expected = fitted.predict_proba(X + 0.1), fitted.kneighbors(X + 0.1)
    again = pickle.dumps(fitted)
    assert len(again) == len(fresh)
    # Rows, labels, weights and little else.
    assert len(again) < 4 * X.nbytes + 40_000
    restored = pickle.loads(again)
    np.testing.assert_array_equal(restored.predict_proba(X + 0.1), expected[0])
    np.testing.assert_array_equal(restored.kneighbors(X + 0.1)[1], expected[1][1])
    np.testing.assert_array_equal(restored.feature_weights_, fitted.feature_weights_)


@pytest.mark.slow
def test_memory_of_a_fit_stays_far_below_all_pairs(in_new_process):
    """Peak resident memory, in MB, that a fit adds: all pairs of 20 000 rows would be 3200."""
    used = in_new_process(
        """
        import json, resource
        import numpy as np
        from lann import LANNClassifier
        rng = np.random.default_rng(0)
        X = rng.normal(size=(20_000, 8))
        y = (X[:, 0] > 0).astype(int)
        LANNClassifier(max_iter=2, random_state=0).fit(X[:500], y[:500]).predict(X[:100])
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        LANNClassifier(max_iter=2, random_state=0).fit(X, y).predict(X[:5_000])
        print(json.dumps((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024))
        """
    )
    assert 0 <= used < 320

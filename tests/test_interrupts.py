"""KeyboardInterrupt in fit is raised, leaves the estimator as it was, and restores the BLAS limits."""

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from lann import LANNClassifier


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


@pytest.mark.parametrize("step", [1, 3])
def test_an_interrupt_in_fit(iris, monkeypatch, step):
    X, y = iris
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    before, threads = clf.predict_proba(X), blas_threads()
    solve, calls = np.unique, []

    def interrupt(*args, **kwargs):
        calls.append(None)
        if len(calls) == step:
            raise KeyboardInterrupt
        return solve(*args, **kwargs)

    monkeypatch.setattr(np, "unique", interrupt)
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[::2], y[::2])
    monkeypatch.undo()
    assert len(calls) == step
    np.testing.assert_array_equal(clf.predict_proba(X), before)
    assert blas_threads() == threads

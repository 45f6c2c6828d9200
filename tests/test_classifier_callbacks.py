"""scikit-learn's callbacks are called in every epoch of a fit."""

import numpy as np
import pytest

from lann import LANNClassifier

callback = pytest.importorskip("sklearn.callback", reason="this scikit-learn has no callbacks")


class Recorder:
    """Records its calls, and may request a stop."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.calls, self.scores, self.torn_down = [], [], 0

    def setup(self, estimator, context):
        self.calls.append("setup")

    def teardown(self, estimator, context):
        self.torn_down += 1

    def on_fit_task_begin(self, estimator, context):
        self.calls.append(f"begin {context.task_name}")

    def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
        self.calls.append(f"end {context.task_name}")
        if context.task_name == "epoch":
            self.scores.append(np.mean(fitted_estimator.predict(X) == y))
            return self.stop_after is not None and len(self.scores) >= self.stop_after
        return False


def fit(recorder, iris, labels=None, **options):
    X, y = iris
    clf = LANNClassifier(**({"random_state": 0, "max_iter": 3} | options)).set_callbacks(recorder)
    return clf.fit(X, y if labels is None else np.array(labels)[y])


def test_every_epoch_is_reported(iris):
    recorder = Recorder()
    fit(recorder, iris)
    assert recorder.calls == ["setup", "begin fit", *["begin epoch", "end epoch"] * 3, "end fit"]
    assert recorder.torn_down == 1


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"], [5, 3, 4]])
def test_the_model_of_every_epoch_predicts(iris, labels):
    recorder = Recorder()
    fit(recorder, iris, labels)
    assert len(recorder.scores) == 3
    assert min(recorder.scores) > 0.9


@pytest.mark.parametrize("options", [{"max_iter": 10}, {"levels": ("point",), "max_iter": 10}])
def test_a_request_to_stop_ends_the_fit(iris, options):
    recorder = Recorder(stop_after=2)
    clf = fit(recorder, iris, **options)
    assert clf.n_iter_ == 2
    assert len(recorder.scores) == 2
    assert clf.score(*iris) > 0.9


def test_callbacks_change_nothing(iris):
    silent = LANNClassifier(random_state=0, max_iter=3).fit(*iris)
    np.testing.assert_array_equal(fit(Recorder(), iris).feature_weights_, silent.feature_weights_)


def test_an_error_in_a_callback_keeps_the_previous_model(iris):
    class Broken(Recorder):
        def on_fit_task_end(self, estimator, context):
            raise RuntimeError("broken callback")

    X, y = iris
    clf = LANNClassifier(random_state=0, max_iter=3).fit(X, y)
    expected = clf.predict(X)
    broken = Broken()
    with pytest.raises(RuntimeError, match="broken callback"):
        clf.set_callbacks(broken).fit(X, np.array(["a", "b", "c"])[y])
    assert broken.torn_down == 1
    np.testing.assert_array_equal(clf.predict(X), expected)


@pytest.mark.parametrize("labels", [None, ["a", "b", "c"]])
def test_scoring_monitor(iris, labels):
    monitor = callback.ScoringMonitor(scoring="accuracy")
    fit(monitor, iris, labels)
    scores = [row["accuracy"] for row in monitor.get_logs().data if row["task_name"] == "epoch"]
    assert len(scores) == 3
    assert min(scores) > 0.9

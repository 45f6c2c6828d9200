import numpy as np
import pytest

from lann import LANNClassifier
from lann.plot import SuspiciousPointsDisplay


def test_wrong_labels_are_listed(flowers):
    X, y = flowers
    wrong = [3, 20, 40]
    y = y.to_numpy().copy()
    y[wrong] = 2
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    ids = np.array([f"flower {place}" for place in range(150)])
    display = SuspiciousPointsDisplay.from_estimator(
        clf, ids=ids, class_names=["setosa", "versicolor", "virginica"], n_points=8
    )
    assert set(wrong) <= set(display.shown_.tolist())
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "flower 20 · virginica → setosa?" in names
    assert len(names) == 8


def test_arrays_are_enough(assert_legible):
    scores = np.random.default_rng(0).random(500)
    display = SuspiciousPointsDisplay(np.arange(500), np.full(500, "a"), scores).plot(n_points=40)
    assert display.shown_.tolist() == np.argsort(-scores)[:40].tolist()
    assert display.ax_.get_yticklabels()[0].get_text() == f"row {scores.argmax()} · a"
    assert sum(patch.get_height() for patch in display.scores_ax_.patches) == 500
    assert_legible(display.figure_)


def test_what_is_refused():
    with pytest.raises(ValueError, match="scores must be one for each of the 3 rows"):
        SuspiciousPointsDisplay([1, 2, 3], [0, 0, 0], [0.5])
    with pytest.raises(ValueError, match="n_points must be an integer"):
        SuspiciousPointsDisplay([1], [0], [0.5]).plot(n_points=0)

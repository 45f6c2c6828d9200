import numpy as np
import pytest
from matplotlib.colors import to_hex

from lann import LANNClassifier
from lann.plot import SuspiciousRowsDisplay


def test_rows_with_wrong_labels_are_listed(iris_frame):
    X, y = iris_frame
    wrong = [3, 20, 40]
    y = y.to_numpy().copy()
    y[wrong] = 2
    clf = LANNClassifier(max_iter=3, random_state=0).fit(X, y)
    ids = np.array([f"flower {k}" for k in range(150)])
    display = SuspiciousRowsDisplay.from_estimator(
        clf, ids=ids, class_names=["setosa", "versicolor", "virginica"], n_rows=8
    )
    assert set(wrong) <= set(display.shown_.tolist())
    names = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "flower 20 · virginica → setosa?" in names
    assert len(names) == 8


def test_scores_are_explained_and_listed_rows_highlighted(long_class_names, assert_legible):
    rng = np.random.default_rng(0)
    scores = np.append(0.5 * rng.random(200), np.ones(20))
    labels, likely = np.array(long_class_names)[rng.integers(0, 30, (2, 220))]
    display = SuspiciousRowsDisplay(
        np.arange(220), labels, scores, likely=likely, subtitle="Diseases: 220 training rows"
    ).plot()
    assert_legible(display.figure_)
    assert display.shown_.tolist() == list(range(200, 215))
    assert sum(patch.get_height() for patch in display.scores_ax_.patches) == 220
    assert display.ax_.get_xlabel() == "score, from 0 to 1\n15 most suspicious rows"
    assert "all 220 rows" in display.scores_ax_.get_xlabel()
    assert "Diseases: 220 training rows" in display.figure_.get_suptitle()
    *rest, last = display.scores_ax_.patches
    assert to_hex(last.get_facecolor()) == "#D55E00".lower()
    assert all(to_hex(bar.get_facecolor()) != "#D55E00".lower() for bar in rest)
    first = display.ax_.get_yticklabels()[0].get_text()
    assert labels[200].split("type ")[1] in first
    assert first.endswith(likely[200].split("type ")[1] + "?")


def test_invalid_parameters_raise():
    with pytest.raises(ValueError, match=r"scores must have shape \(3,\), one value per row; got \(1,\)"):
        SuspiciousRowsDisplay([1, 2, 3], [0, 0, 0], [0.5])
    with pytest.raises(ValueError, match="n_rows must be an integer"):
        SuspiciousRowsDisplay([1], [0], [0.5]).plot(n_rows=0)

"""A stream that drifts twice: which classifiers notice, and what predictions are based on before and after.

python examples/stream_drift.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # writes files, needs no screen

import numpy as np
import pandas as pd
from PIL import Image

from lann.plot import StreamDisplay
from lann.streams import SAMKNN, SAMLANN, PrequentialEvaluation, prequential

N_ROWS = 6000
FEATURES = ("pressure", "temperature", "vibration", "humidity", "speed")


def make_stream(seed=0):
    """Return measurements of a machine, in percent of their range, and whether each part is good.

    Pressure and temperature decide, then vibration alone, then pressure and temperature again.
    """
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.uniform(0.0, 100.0, size=(N_ROWS, len(FEATURES))), columns=FEATURES).round(1)
    phase = np.arange(N_ROWS) * 3 // N_ROWS
    is_good = np.where(phase == 1, X["vibration"] < 50.0, X["pressure"] + X["temperature"] < 100.0)
    return X, np.where(is_good, "good", "scrap")


def evaluate(X, y):
    """Predict every row before it is learned, by three classifiers."""
    classifiers = {
        "SAMLANN": SAMLANN(random_state=0),
        "SAMKNN": SAMKNN(random_state=0),
        # A short-term memory that may not become smaller.
        "kNN in a window of 5000 rows": SAMKNN(min_window_size=5000, random_state=0),
    }
    return {
        name: prequential(classifier, X, y, evaluation=PrequentialEvaluation(window_size=300))
        for name, classifier in classifiers.items()
    }


def explain(X, y, n_rows):
    """Print the explanation of a row after `n_rows` rows of the stream."""
    clf = SAMLANN(random_state=0).partial_fit(X[:n_rows], y[:n_rows])
    print(f"\nRow {n_rows}, which is {y[n_rows]}:\n{clf.explain_one(X[n_rows : n_rows + 1])}")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    X, y = make_stream()
    evaluations = evaluate(X, y)
    scores = pd.DataFrame({name: one.scores._asdict() for name, one in evaluations.items()}).T
    print(scores[["accuracy", "kappa_temporal", "log_loss"]].astype(float).round(3))
    first, *others = evaluations
    display = StreamDisplay.from_evaluation(
        evaluations[first],
        name=first,
        others={name: evaluations[name] for name in others},
        data_name="measurements of a machine",
    )
    path = folder / "stream_drift.png"
    display.figure_.savefig(path, dpi=200)
    image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
    image.save(path, optimize=True, dpi=(200, 200))
    print(f"Wrote {path}")
    for n_rows in (1990, 2500):
        explain(X, y, n_rows)
    print(
        "\nLook at: the two drifts, after 2000 and 4000 rows. SAMLANN and SAMKNN forget what is no longer "
        "true within some hundred rows, and kNN in a window does not. SAMLANN has learned which features "
        "decide."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))

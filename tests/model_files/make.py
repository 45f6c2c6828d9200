"""Write the model file of the present format, and its predictions: `python -m tests.model_files.make`.

A file of a format that has been released is never written again: it is what later versions have to load.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.datasets import load_iris

from lann import LANNClassifier
from lann.persist import TableRecord, save
from lann.persist._model_file import FORMAT

FOLDER = Path(__file__).parent
TABLE = TableRecord(
    "species", None, None, np.arange(0, 150, 2), {"plant": "a number per row"}, [{"name": "x"}]
)


def queries():
    """Return the rows that are predicted: those that the model was not fitted with."""
    return load_iris().data[1::2]


def predictions(model):
    """Return what the model predicts, as JSON has it."""
    distances, neighbors = model.kneighbors(queries())
    return {
        "labels": model.predict(queries()).tolist(),
        "probabilities": model.predict_proba(queries()).tolist(),
        "neighbors": neighbors.tolist(),
        "distances": distances.tolist(),
    }


def make():
    """Fit and save a small model, and store its predictions."""
    iris = load_iris()
    model = LANNClassifier(random_state=0).fit(iris.data[::2], iris.target_names[iris.target[::2]])
    save(model, FOLDER / f"format-{FORMAT}.lann", table=TABLE)
    (FOLDER / f"format-{FORMAT}.json").write_text(json.dumps(predictions(model)) + "\n")


if __name__ == "__main__":
    make()

"""Model files of released formats are loaded, and predict as they did.

`python -m tests.persist.test_formats` writes the files of the present format: only for a new format, or as
long as the first one is not released.
"""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import lann
from lann.persist._archive import FORMAT
from lann.reject import RejectOption
from lann.streams import SAMLANN

FOLDER = Path(__file__).parent / "formats"
FORMATS = sorted(path.name for path in FOLDER.iterdir())


def table():
    """Return rows with a number, a category and gaps, and their labels."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"size": rng.normal(size=60).round(3), "town": rng.choice(["Ulm", "Bern", "Graz"], 60)})
    y = np.where((X["size"] > 0) ^ (X["town"] == "Ulm"), "yes", "no")
    X.loc[::7, "size"] = np.nan
    return X, y


def models():
    X, y = table()
    numbers = X[["size"]].fillna(0.0)
    classifier = lann.LANNClassifier(max_iter=2, random_state=0)
    return {
        "classifier": (classifier.fit(X, y), X),
        "reject": (RejectOption(classifier, coverage=0.8, cv=2, random_state=0).fit(X, y), X),
        "stream": (SAMLANN(random_state=0).fit(numbers, y), numbers),
    }


@pytest.mark.parametrize("name", ["classifier", "reject", "stream"])
@pytest.mark.parametrize("number", FORMATS)
def test_files_of_each_format_predict_as_before(number, name):
    kept = json.loads((FOLDER / number / f"{name}.json").read_text())
    rows = pd.DataFrame(kept["rows"])
    model = lann.load(FOLDER / number / f"{name}.lann")
    assert len(kept["probabilities"]) == len(rows) == 60
    np.testing.assert_allclose(model.predict_proba(rows), kept["probabilities"], rtol=0, atol=1e-9)


def test_there_are_files_of_the_present_format():
    assert str(FORMAT) in FORMATS


if __name__ == "__main__":
    folder = FOLDER / str(FORMAT)
    folder.mkdir(parents=True, exist_ok=True)
    for name, (model, X) in models().items():
        lann.save(model, folder / f"{name}.lann")
        rows = X.astype(object).where(X.notna(), None).to_dict("list")
        kept = {"rows": rows, "probabilities": model.predict_proba(X).tolist()}
        (folder / f"{name}.json").write_text(json.dumps(kept))

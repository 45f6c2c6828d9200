"""The fingerprints of the Wisconsin Breast Cancer data: what malignant and benign tumours are judged by.

python examples/wisconsin_fingerprints.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # writes files, needs no screen

from sklearn.datasets import load_breast_cancer

from lann import LANNClassifier
from lann.plot import RelevanceDisplay


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = load_breast_cancer(as_frame=True)
    clf = LANNClassifier(random_state=0).fit(data.data, data.target)
    for reading in ("votes", "weights"):
        display = RelevanceDisplay.from_estimator(clf, reading=reading, class_names=data.target_names)
        place = folder / f"wisconsin_fingerprints_{reading}.png"
        display.figure_.savefig(place, dpi=100)
        print(f"wrote {place}")
    print(
        "Look at: the few features at the top of the first picture, on which the votes hang, and where the "
        "two classes differ in them; the second picture is the reading of the paper, the points' weights."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))

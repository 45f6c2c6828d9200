"""Draw the relevance of the features of the Wisconsin Breast Cancer data, for benign and malignant tumors.

python examples/wisconsin_fingerprints.py docs/img
"""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")  # write files, without a screen

from PIL import Image
from sklearn.datasets import load_breast_cancer

from lann import LANNClassifier
from lann.plot import RelevanceDisplay


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = load_breast_cancer(as_frame=True)
    clf = LANNClassifier(random_state=0).fit(data.data, data.target)
    for quantity in ("relevances", "feature_weights"):
        display = RelevanceDisplay.from_estimator(
            clf, quantity=quantity, class_names=data.target_names, data_name="Breast cancer"
        )
        path = folder / f"wisconsin_fingerprints_{quantity}.png"
        display.figure_.savefig(path, dpi=200)
        image = Image.open(path).convert("RGB").quantize(dither=Image.Dither.NONE)  # 256 colors
        image.save(path, optimize=True, dpi=(200, 200))
        print(f"wrote {path}")
    print(
        "Look at: the few features at the top of the first figure, on which the predictions depend, and the "
        "differences between the classes; the second figure shows the feature weights, as in the paper."
    )


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/img"))

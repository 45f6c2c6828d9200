"""
A stream that drifts twice
==========================

Pressure and temperature decide whether a part is good, then vibration alone, then pressure and
temperature again. Which classifiers notice, and what are their predictions based on?
"""

import numpy as np
import pandas as pd

from lann.plot import StreamDisplay
from lann.streams import SAMKNN, SAMLANN, PrequentialEvaluation, prequential

N_ROWS = 6000
FEATURES = ["pressure", "temperature", "vibration", "humidity", "speed"]
rng = np.random.default_rng(0)
X = pd.DataFrame(rng.uniform(0.0, 100.0, size=(N_ROWS, len(FEATURES))), columns=FEATURES).round(1)
phase = np.arange(N_ROWS) * 3 // N_ROWS
is_good = np.where(phase == 1, X["vibration"] < 50.0, X["pressure"] + X["temperature"] < 100.0)
y = np.where(is_good, "good", "scrap")

# %%
# Every row is predicted before it is learned. The third classifier may not forget.
classifiers = {
    "SAMLANN": SAMLANN(random_state=0),
    "SAMKNN": SAMKNN(random_state=0),
    "kNN in a window of 5000 rows": SAMKNN(min_window_size=5000, random_state=0),
}
evaluations = {
    name: prequential(classifier, X, y, evaluation=PrequentialEvaluation(window_size=300))
    for name, classifier in classifiers.items()
}
scores = pd.DataFrame({name: one.scores._asdict() for name, one in evaluations.items()}).T
scores[["accuracy", "kappa_temporal", "log_loss"]].astype(float).round(3)

# %%
# There is an alarm after each change. kNN in a window takes thousands of rows to follow.
first, *others = evaluations
StreamDisplay.from_evaluation(
    evaluations[first],
    name=first,
    others={name: evaluations[name] for name in others},
    data_name="measurements of a machine",
)

# %%
# 500 rows after the first change, the explanation says what has changed.
clf = SAMLANN(random_state=0).partial_fit(X[:2500], y[:2500])
print(clf.explain_one(X[2500:2501]))

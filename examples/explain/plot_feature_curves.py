"""
Where along a feature differences count
=======================================

LANN learns a monotone curve for every number. Where the curve is steep, a small difference counts much.
In this generated example, the risk depends on whether the temperature is above 38, and hardly on
anything else about it.
"""

import numpy as np
import pandas as pd

from lann import LANNClassifier
from lann.plot import FeatureCurvesDisplay

rng = np.random.default_rng(0)
X = pd.DataFrame(
    {
        "temperature": rng.normal(37.5, 1.0, 1500),
        "age": rng.uniform(18, 90, 1500),
        "income": rng.lognormal(10, 1, 1500),
    }
)
risk = np.where(X["temperature"] > 38, 0.9, 0.1) * (0.4 + 0.6 * (X["age"] > 50))
y = np.where(rng.uniform(size=1500) < risk, "ill", "healthy")
clf = LANNClassifier(random_state=0).fit(X, y)

# %%
# Shaded: where the curve is steeper than on average. The first two curves are steep around 38 and below
# 50; the income has nothing to do with the risk, and a low relevance.
FeatureCurvesDisplay.from_estimator(clf, data_name="Generated patients")

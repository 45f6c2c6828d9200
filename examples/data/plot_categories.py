"""
Tables as they are: categories and missing values
=================================================

Text, categories and missing values need no encoder and no imputer. LANN learns how far categories are
from each other, and what a missing value means.
"""

import numpy as np
import pandas as pd
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.plot import FeatureCurvesDisplay

rng = np.random.default_rng(0)
n = 2000
weekday = rng.choice(["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"], n)
amount = rng.lognormal(4, 1, n).round(2)
age = rng.normal(45, 15, n).round()
late = np.isin(weekday, ["Sat", "Sun"]) ^ (amount > 80)
y = np.where(late ^ (rng.uniform(size=n) < 0.05), "late", "on time")
age[rng.uniform(size=n) < np.where(y == "late", 0.3, 0.05)] = np.nan  # missing more often if late
X = pd.DataFrame({"weekday": weekday, "amount": amount, "age": age})
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)

clf = LANNClassifier(random_state=0).fit(X_train, y_train)
print(f"accuracy: {clf.score(X_test, y_test):.3f}")
X_test.head()

# %%
# Saturday and Sunday have learned positions near each other, far from the other days. The age hardly
# matters, but whether it is missing does.
FeatureCurvesDisplay.from_estimator(clf, data_name="Generated payments")

# %%
# Explanations name the columns and values of the table.
print(clf.explain(X_test.iloc[[0]]).in_words()[0])

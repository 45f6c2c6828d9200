"""
Intervals that are wide where the noise is
==========================================

`LANNRegressor` predicts numbers, with intervals. Here, the noise grows with the first feature, and so do
the intervals.
"""

import matplotlib.pyplot as plt
import numpy as np

from lann import LANNRegressor

rng = np.random.default_rng(0)
X = rng.uniform(0, 1, size=(1500, 3))
y = np.sin(6 * X[:, 0]) + 0.5 * X[:, 1] + rng.normal(size=1500) * (0.05 + 0.5 * X[:, 0])
X_train, X_test, y_train, y_test = X[:1000], X[1000:], y[:1000], y[1000:]
reg = LANNRegressor(random_state=0).fit(X_train, y_train)
intervals = reg.predict_interval(X_test, coverage=0.9)
inside = (intervals[:, 0] <= y_test) & (y_test <= intervals[:, 1])
print(f"R²: {reg.score(X_test, y_test):.3f}; in the 90 % interval: {inside.mean():.1%}")

# %%
order = X_test[:, 0].argsort()
x = X_test[order, 0]
figure, ax = plt.subplots(figsize=(7, 4), layout="constrained")
ax.vlines(x, *intervals[order].T, color="#0072B2", alpha=0.25, label="90 % interval")
ax.plot(x, reg.predict(X_test)[order], ".", color="#0072B2", markersize=4, label="prediction")
ax.plot(x, y_test[order], ".", color="#33404D", markersize=3, label="test row")
ax.set(xlabel="first feature", ylabel="target")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# A prediction is explained in the unit of the target.
print(reg.explain(X_test[:1]).row(0).sentence)

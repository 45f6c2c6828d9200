"""
Rows on several machines
========================

`DaskLANN` fits and predicts arrays and tables of Dask. Here, two workers are threads of this process; a
`distributed.Client` of a cluster takes their place without another change.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from lann.datasets import make_local_relevance
from lann.distributed import DaskLANN

X, y = make_local_relevance(6000, 8, random_state=0)[:2]
clf = DaskLANN(rows_per_shard=2500, random_state=0)
clf.fit(da.from_array(X[:5000], chunks=(1250, 8)), da.from_array(y[:5000], chunks=1250))

# %%
# Predictions are arrays of Dask, which are computed when they are needed.
probabilities = clf.predict_proba(da.from_array(X[5000:], chunks=(500, 8)))
print(probabilities)
accuracy = (probabilities.compute().argmax(axis=1) == y[5000:]).mean()
print(f"accuracy: {accuracy:.3f}")

# %%
# Explanations work as on one machine.
relevances = clf.explain(X[5000:5200]).relevances
figure, ax = plt.subplots(figsize=(6, 3), layout="constrained")
ax.bar(np.arange(8), relevances.mean(axis=0), color="#0072B2")
ax.set(xlabel="feature", ylabel="mean relevance", title="Generated data, 200 rows explained")
ax.spines[["top", "right"]].set_visible(False)

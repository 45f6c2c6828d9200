"""
Explain one prediction
======================

A prediction of LANN is a vote of training rows. This example shows the three parts of its explanation:
the rows that voted, what each column adds to the probability, and what matters around the row.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.plot import ExplanationDisplay

data = load_breast_cancer(as_frame=True)
y = data.target_names[data.target]
X_train, X_test, y_train, y_test = train_test_split(data.data, y, stratify=y, random_state=0)
clf = LANNClassifier(random_state=0).fit(X_train, y_train)
print(f"accuracy on {len(X_test)} test rows: {clf.score(X_test, y_test):.3f}")

# %%
# We explain a test row of which the classifier is not certain. In words:
explanation = clf.explain(X_test.iloc[[135]], ids=X_train.index)
print(explanation.in_words()[0])

# %%
# As a picture: bars start at the probability where nothing is known of the row, and end at the predicted
# probability. The table below has the training rows that voted, the nearest first.
ExplanationDisplay.from_explanation(explanation, data_name="Breast cancer")

# %%
# As tables, for further work:
explanation.to_frame("reasons").head()

# %%
explanation.to_frame("neighbors").head()

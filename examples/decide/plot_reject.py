"""
Reject what is uncertain
========================

A reject option leaves rows to a person: those that are likely to be predicted wrongly, and those that
are unlike all training rows. Here, digits are known by the sums of their lines only, so that some cannot
be told apart.
"""

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split

from lann import LANNClassifier
from lann.plot import RejectDisplay
from lann.reject import RejectOption

digits = load_digits()
X_train, X_test, y_train, y_test = train_test_split(
    digits.images.sum(axis=2), digits.target, stratify=digits.target, random_state=0
)
reject = RejectOption(LANNClassifier(random_state=0), coverage=0.8, cv=3, random_state=0)
reject.fit(X_train, y_train)
forest = RandomForestClassifier(random_state=0).fit(X_train, y_train)

# %%
# The error of the accepted rows, by their share. The dot is what the reject option does with the test
# rows.
RejectDisplay.from_estimator(
    {"LANN": reject, "Random forest": forest}, X_test, y_test, data_name="Digits by their line sums"
)

# %%
# Each row has a decision. A row that is not a digit at all is far from the training rows:
decisions = reject.decision(X_test)
print({name: int((decisions == name).sum()) for name in ("accepted", "ambiguous", "far")})
print(reject.decision(X_test[:1] * 10))

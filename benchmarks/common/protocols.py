"""How data sets are split into training and test rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks.common.arrays import Floats, Indices, Labels
from benchmarks.engine import choose

N_SPLITS = 10

Split = tuple[Indices, Indices]
"""The training rows and the test rows."""


@dataclass(frozen=True)
class Protocol:
    """A way to split a data set."""

    name: str
    description: str
    splitter: Callable[[int], StratifiedShuffleSplit | StratifiedKFold]

    def splits(self, X: Floats, y: Labels, seed: int, n_splits: int = N_SPLITS) -> list[Split]:
        """
        Return the first `n_splits` of the ten splits.

        Parameters
        ----------
        X : (n_samples, n_features)
        y : (n_samples,)
        seed
            0 for figures that are reported; from 1000 on for tuning.
        n_splits
            Fewer splits are the first of the ten, not different ones.
        """
        return list(self.splitter(seed).split(X, y))[:n_splits]


PROTOCOLS = {
    protocol.name: protocol
    for protocol in (
        Protocol(
            "paper",
            "trained on 25 %, tested on 75 %, stratified and shuffled, z-scored on the training part",
            lambda seed: StratifiedShuffleSplit(N_SPLITS, train_size=0.25, random_state=seed),
        ),
        Protocol(
            "cv",
            "folds of a stratified, shuffled 10-fold cross-validation, z-scored on the training part",
            lambda seed: StratifiedKFold(N_SPLITS, shuffle=True, random_state=seed),
        ),
    )
}


def choose_protocol(name: str) -> Protocol:
    """Return the protocol with this name."""
    return PROTOCOLS[choose([name], PROTOCOLS, "protocol")[0]]


def scale(X: Floats, split: Split) -> tuple[Floats, Floats]:
    """Return the training rows and the test rows, scaled by mean and deviation of the training rows."""
    train, test = split
    scaler = StandardScaler().fit(X[train])
    return scaler.transform(X[train]), scaler.transform(X[test])

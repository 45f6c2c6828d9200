"""How data are split into training and test parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sklearn.model_selection import StratifiedKFold, StratifiedShuffleSplit

from lann._types import Floats, Indices, Labels

N_SPLITS = 10

Split = tuple[Indices, Indices]


@dataclass(frozen=True)
class Protocol:
    """A way to split, and what it says about itself."""

    name: str
    description: str
    splitter: Callable[[int], StratifiedShuffleSplit | StratifiedKFold]

    def splits(self, X: Floats, y: Labels, seed: int, n_splits: int = N_SPLITS) -> list[Split]:
        """
        The first `n_splits` of the ten splits: rows to train on and rows to test on.

        Parameters
        ----------
        X : (n_samples, n_features)
        y : (n_samples,)
        seed
            0 for figures that are reported; anything else for tuning.
        n_splits
            How many; fewer are a part of the ten, not other splits.
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
    """The protocol of this name."""
    if name not in PROTOCOLS:
        raise ValueError(f"There is no protocol {name!r}; the protocols are {', '.join(PROTOCOLS)}.")
    return PROTOCOLS[name]

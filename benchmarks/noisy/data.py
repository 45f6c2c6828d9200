"""Ten noisy data sets: their files, how they are split, and how every method gets them."""

from __future__ import annotations

from collections.abc import Iterable

from sklearn.model_selection import StratifiedShuffleSplit

from benchmarks.common.measure import Task
from benchmarks.common.protocols import Split
from benchmarks.common.table_encoder import TableEncoder
from benchmarks.common.table_sets import TableSet, load_table_sets

MIXED, STREAMS = "mixed", "streams"
FILES = {
    "adult": MIXED,
    "bank-marketing": MIXED,
    "titanic": MIXED,
    "crx": MIXED,
    "heart-disease": MIXED,
    "eucalyptus": MIXED,
    "weather": STREAMS,
    "electricity": STREAMS,
    "sea": STREAMS,
    "rialto": STREAMS,
}
"""By data set: the folder of its file ``NAME.csv.gz`` in the folder named by ``LANN_DATA``."""

SETS = tuple(FILES)
QUICK_SETS = ("titanic", "crx", "heart-disease", "eucalyptus")

MOST_ROWS = 4000
N_SPLITS = 10


class NoisySet(TableSet):
    """A noisy data set."""

    def splits(self, seed: int, n_splits: int) -> list[Split]:
        """
        Return the first `n_splits` of ten stratified splits.

        Half of the rows are for training and half for testing, and at most 4000 for each: of a larger set,
        every split is another random sample of 8000 rows. The order of a stream does not count.

        Parameters
        ----------
        seed
            0 for figures that are reported; from 1000 on for tuning.
        n_splits
            Fewer splits are the first of the ten, not different ones.
        """
        n = len(self.y)
        n_train = min(n // 2, MOST_ROWS)
        splitter = StratifiedShuffleSplit(
            N_SPLITS, train_size=n_train, test_size=min(n - n // 2, MOST_ROWS), random_state=seed
        )
        return list(splitter.split(self.y, self.y))[:n_splits]

    def task(self, split: Split) -> Task:
        """Return the rows of a split, encoded by an encoder that was fitted on the training rows."""
        train, test = split
        encoder = TableEncoder().fit(self.table.iloc[train])
        X_train, X_test = (encoder.transform(self.table.iloc[rows]) for rows in (train, test))
        return Task(X_train, self.y[train], X_test, self.y[test])


def load_noisy_sets(names: Iterable[str]) -> tuple[list[NoisySet], dict[str, str]]:
    """Return the data sets that can be loaded, and the reasons why the others cannot."""
    return load_table_sets(FILES, names, NoisySet)

"""Measurements kept on disk, so that a run goes on where it was interrupted."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import sklearn
from sklearn.base import BaseEstimator

import lann
from lann._files import write_atomically
from lann._types import Floats, Labels
from lann.bench.measure import Measurement
from lann.bench.sources import code_digest

About = dict[str, Any]


def about(estimator: Any, data_digest: str, n_jobs: int = 1) -> About:
    """
    What a measurement depends on, beside the split: if any of it has changed, the measurement is stale.

    Parameters
    ----------
    estimator
        Its class and all its parameters count, those of the estimators inside it too; for estimators of this
        library, so does their code.
    data_digest
        From `digest_of`.
    n_jobs
        Threads, also for methods that have no parameter for them.
    """
    parameters = estimator.get_params(deep=True)
    inside = [value for value in parameters.values() if isinstance(value, BaseEstimator)]
    modules = sorted({type(part).__module__ for part in [estimator, *inside]})
    return {
        "lann": lann.__version__,
        "scikit-learn": sklearn.__version__,
        "data": data_digest,
        "n_jobs": n_jobs,
        "measured by": code_digest("lann.bench.measure"),
        "code": [code_digest(module) for module in modules],
        "estimator": _name_of(type(estimator)),
        "parameters": {name: _as_text(value) for name, value in sorted(parameters.items())},
    }


def digest_of(X: Floats, y: Labels) -> str:
    """Digest a data set."""
    digest = hashlib.sha256(repr(X.shape).encode())
    for array in (X, y):
        digest.update(array.tobytes())
    return digest.hexdigest()


class Store:
    """
    One small file for every protocol, seed, method and data set.

    Parameters
    ----------
    folder
        It need not exist yet.
    protocol, seed
        Whose results are kept and found.
    """

    def __init__(self, folder: Path, protocol: str, seed: int) -> None:
        self.folder = folder / f"{protocol}-{seed}"

    def path(self, method: str, data_set: str) -> Path:
        """The file of a method and a data set."""
        return self.folder / method / f"{data_set}.json"

    def kept(self, method: str, data_set: str, about: About) -> dict[int, Measurement]:
        """What is kept, by split; nothing if it depends on something else than `about`, or is unreadable."""
        try:
            content = json.loads(self.path(method, data_set).read_bytes())
            if content["about"] != about:
                return {}
            return {int(split): Measurement(**values) for split, values in content["splits"].items()}
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def keep(self, method: str, data_set: str, about: About, split: int, measured: Measurement) -> None:
        """Add a split to what is kept."""
        # Read again, as another run may have added to it.
        splits = {**self.kept(method, data_set, about), split: measured}
        content = {
            "about": about,
            "splits": {str(number): asdict(splits[number]) for number in sorted(splits)},
        }
        write_atomically(self.path(method, data_set), f"{json.dumps(content, indent=1)}\n".encode())

    def discard(self, method: str, data_set: str) -> None:
        """Throw away what is kept."""
        self.path(method, data_set).unlink(missing_ok=True)


def _as_text(value: Any) -> str:
    if isinstance(value, BaseEstimator):
        return _name_of(type(value))  # its parameters are listed by themselves
    if callable(value):
        return _name_of(value)  # its repr is its address
    return repr(value)


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"

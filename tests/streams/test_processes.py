"""Streams in other processes: a light import, the same bits, and memory that does not grow."""

import hashlib
import pickle
import subprocess
import sys

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN


def test_without_river_one_sentence_says_what_to_install():
    code = "import sys; sys.modules['river'] = None; import lann.streams.river"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last == "ImportError: lann.streams.river needs the package river: pip install 'lann[streams]'."


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_the_same_seed_gives_the_same_bits_in_another_process(cls, level, in_new_process):
    """Also with other instructions of the processor."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    y = (X[:, 0] > 0.2 * X[:, 1]).astype(int)
    clf = cls(window_size=150, random_state=7)
    probabilities = clf.test_then_train(X, y)
    assert clf.long_term_size_ > 0
    digest = in_new_process(
        f"""
        import hashlib, json, os
        os.environ["LANN_SIMD"] = "{level}"
        import numpy as np
        from lann.streams import {cls.__name__}
        rng = np.random.default_rng(0)
        X = rng.normal(size=(900, 3))
        X[rng.random(X.shape) < 0.05] = np.nan
        clf = {cls.__name__}(window_size=150, random_state=7)
        probabilities = clf.test_then_train(X, (X[:, 0] > 0.2 * X[:, 1]).astype(int))
        print(json.dumps(hashlib.sha256(probabilities.tobytes()).hexdigest()))
        """
    )
    assert digest == hashlib.sha256(probabilities.tobytes()).hexdigest()


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_the_size_of_a_model_does_not_grow(cls):
    rng = np.random.default_rng(0)
    clf, sizes = cls(window_size=300, random_state=0), []
    for number in range(20):
        X, angle = rng.normal(size=(500, 3)), number / 3
        clf.partial_fit(X, np.cos(angle) * X[:, 0] + np.sin(angle) * X[:, 1] > 0)
        sizes.append(len(pickle.dumps(clf)))
        assert clf.short_term_size_ + clf.long_term_size_ <= 300
    assert clf.n_seen_ == 10_000
    assert max(sizes) - min(sizes) < 100

"""Streams in other processes: a light import, the same bits, and memory that does not grow."""

import hashlib

import numpy as np

from lann.streams import SAMKNN


def test_importing_the_package_is_cheap(in_new_process):
    heavy = in_new_process(
        """
        import json, sys
        import lann.streams
        heavy = ("numba", "faiss", "matplotlib", "river")
        print(json.dumps([name for name in heavy if name in sys.modules]))
        """
    )
    assert heavy == []


def test_the_same_seed_gives_the_same_bits_in_another_process(in_new_process):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 3))
    clf = SAMKNN(window_size=150, random_state=7)
    probabilities = clf.test_then_train(X, (X[:, 0] > 0.2 * X[:, 1]).astype(int))
    assert clf.long_term_size_ > 0
    digest = in_new_process(
        """
        import hashlib, json
        import numpy as np
        from lann.streams import SAMKNN
        X = np.random.default_rng(0).normal(size=(900, 3))
        clf = SAMKNN(window_size=150, random_state=7)
        probabilities = clf.test_then_train(X, (X[:, 0] > 0.2 * X[:, 1]).astype(int))
        print(json.dumps(hashlib.sha256(probabilities.tobytes()).hexdigest()))
        """
    )
    assert digest == hashlib.sha256(probabilities.tobytes()).hexdigest()


def test_memory_of_the_process_does_not_grow(in_new_process):
    """Peak resident memory, in MB, that 180 000 further rows add."""
    added = in_new_process(
        """
        import json, resource
        import numpy as np
        from lann.streams import SAMKNN
        rng, clf, peaks = np.random.default_rng(0), SAMKNN(window_size=1000, random_state=0), []
        for batch in range(200):
            X = rng.normal(size=(1000, 5))
            clf.test_then_train(X, ((X[:, 0] > 0) ^ (batch // 30 % 2)).astype(int))
            if batch in (19, 199):
                peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
        print(json.dumps(peaks[1] - peaks[0]))
        """
    )
    assert added < 10

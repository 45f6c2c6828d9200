"""Small fitted models, and changes of their files."""

import io
import json
import os
import re
import zipfile
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier, load, save


@pytest.fixture(scope="session")
def data() -> tuple[pd.DataFrame, np.ndarray]:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(60, 4)), columns=["a", "b", "weight [kg]", "größe"])
    return X, np.where(X["a"] + X["b"] > 0, "up", "down")


@pytest.fixture(scope="session")
def classifier(data) -> LANNClassifier:
    X, y = data
    return LANNClassifier(max_iter=1, random_state=0).fit(X, y)


@pytest.fixture
def saved(classifier, tmp_path):
    path = tmp_path / "model.lann"
    save(classifier, path)
    return path


def read_entries(path):
    """Return the entries of a file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def write_entries(path, entries, method=zipfile.ZIP_STORED):
    """Write a file of entries, as another program would."""
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, entry in entries.items():
            archive.writestr(name, entry)
    return path


class Changes:
    """The entries of a file, and its model.json, to be changed and written again."""

    def __init__(self, path):
        self.path = path
        self.entries = read_entries(path)
        self.described = json.loads(self.entries["model.json"])

    @property
    def parameters(self):
        return self.described["model"]["parameters"]

    @property
    def fitted(self):
        return self.described["model"]["fitted"]

    def array(self, name):
        """Return an array by the name of its entry without .npy."""
        return np.load(io.BytesIO(self.entries[f"{name}.npy"]))

    def replace_array(self, name, array):
        """Replace an array, by the name of its entry without .npy."""
        buffer = io.BytesIO()
        np.save(buffer, array)
        self.entries[f"{name}.npy"] = buffer.getvalue()
        return self

    def write(self, **replaced):
        """Write the file again, with the present description and some entries replaced."""
        self.entries["model.json"] = json.dumps(self.described).encode()
        self.entries |= replaced
        write_entries(self.path, self.entries)
        return self.path


@pytest.fixture
def changes():
    """From a file to its content, for changes."""
    return Changes


@pytest.fixture
def load_fails():
    """Check that loading fails with one sentence about the file, and that nothing from it runs."""

    def check(path, message, error=ValueError):
        with (
            patch("os.system") as system,
            patch("pickle.loads") as unpickle,
        ):
            with pytest.raises(error) as caught:
                load(path)
            assert not system.called
            assert not unpickle.called
        text = str(caught.value)
        assert re.search(message, text), text
        assert path.name in text
        assert "\n" not in text
        assert text.endswith(".")
        assert len(text) < 1000

    return check


@pytest.fixture
def save_fails(tmp_path):
    """Check that saving fails with one sentence, and leaves the old file and nothing else."""

    def check(model, message, error=ValueError):
        folder = tmp_path / "folder"
        folder.mkdir(exist_ok=True)
        path = folder / "model.lann"
        path.write_bytes(b"old")
        with pytest.raises(error, match=message) as caught:
            save(model, path)
        assert "\n" not in str(caught.value)
        assert os.listdir(folder) == ["model.lann"]
        assert path.read_bytes() == b"old"

    return check

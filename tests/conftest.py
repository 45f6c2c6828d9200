"""Fixtures for all tests: slow references, small data sets, and a second process."""

import importlib.util
import json
import os
import signal
import subprocess
import sys
import textwrap
import warnings
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import load_iris, load_wine

settings.register_profile(
    "lann",
    deadline=None,
    derandomize=True,
    max_examples=25,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)
settings.load_profile("lann")

# In the background of a shell, Ctrl-C is ignored, also by the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


# What `--smoke` leaves out: what takes long, and depends on other packages no more than the rest does.
NOT_IN_SMOKE = (
    "benchmarks",
    "browser",
    "theory",
    "test_examples.py",
    "baselines",
    "datasets",
    "fuzz",
    "metrics",
    "reject",
    "search",
    "training",
)


def pytest_addoption(parser):
    parser.addoption(
        "--smoke", action="store_true", help=f"Leave out what takes long: {', '.join(NOT_IN_SMOKE)}."
    )


def pytest_collection_modifyitems(config, items):
    """Let tests of benchmarks come last: the functions that they call are compiled by then."""
    parts = {item: item.path.relative_to(Path(__file__).parent).parts for item in items}
    if config.getoption("smoke"):
        left_out = [item for item in items if parts[item][0] in NOT_IN_SMOKE]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in set(left_out)]
    items.sort(key=lambda item: "benchmarks" in parts[item])


@pytest.fixture(scope="session", autouse=True)
def no_fsync():
    """Let nothing wait for the disk: the files of tests need not survive a power failure."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session")
def reference():
    """The slow, obvious versions in reference.py."""
    path = Path(__file__).with_name("reference.py")
    spec = importlib.util.spec_from_file_location("lann_reference", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def iris():
    return load_iris(return_X_y=True)


@pytest.fixture(scope="session")
def wine():
    return load_wine(return_X_y=True)


@pytest.fixture
def blobs():
    """Three overlapping classes over four features, no two points alike: X (90, 4), y (90,)."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 30)
    centers = np.array([[0.0, 0.0, 0.0, 0.0], [2.0, 0.5, 0.0, 0.0], [0.0, 2.0, 1.0, 0.0]])
    return centers[y] + rng.normal(size=(90, 4)), y


@pytest.fixture(scope="session")
def in_new_process():
    """Run a program in a fresh interpreter; what it prints last, as JSON."""

    def run(program):
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(program)], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout.splitlines()[-1])

    return run


@pytest.fixture(scope="session")
def make_table():
    """Return a function that makes a table with numbers, text, bools and missing values.

    The class, "group", depends on "size [cm]" and "color".
    """

    def make(n_rows=80, seed=0):
        rng = np.random.default_rng(seed)
        size = rng.normal(170, 10, n_rows).round(1)
        color = rng.choice(["red", "blue_ish", "green"], n_rows)
        frame = pd.DataFrame(
            {
                "name": [f"p{row}" for row in range(n_rows)],
                "size [cm]": size,
                "color": color,
                "member": rng.choice([True, False], n_rows),
                "noise": rng.normal(size=n_rows).round(3),
                "empty": np.nan,
                "constant": "x",
                "group": np.where((color == "red") | (size > 178), "in", "out"),
            }
        )
        frame.loc[3, "size [cm]"] = np.nan
        frame.loc[5, "color"] = np.nan
        return frame

    return make


@pytest.fixture(scope="session")
def training_frame(make_table):
    """A table whose rows 2 and 3 have no label."""
    frame = make_table()
    frame.loc[[2, 3], "group"] = np.nan
    return frame


@pytest.fixture(scope="session")
def table_model(training_frame):
    """A model that is fitted to the table."""
    from lann.tables import TableModel, TableWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        return TableModel.fit(training_frame, "group", id="name")


class ParsedPage(HTMLParser):
    """The tags and the text of a page, whose elements have to be closed in order."""

    EMPTY = ("meta", "link", "input")

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.text = [], [], ""
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open and "script" not in self.open:
            self.text += f"{data} "

    def count(self, tag, class_=None):
        return sum(
            name == tag and class_ in (None, attributes.get("class")) for name, attributes in self.tags
        )


@pytest.fixture(scope="session")
def parse_page():
    return ParsedPage


def make_passengers(n_rows=400, seed=0):
    """Return a table with features of all kinds, gaps and an index, and labels that depend on Sex."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "Sex": rng.choice(["male", "female"], n_rows, p=[0.6, 0.4]),
            "Class": pd.Categorical(
                rng.choice(["1st", "2nd", "3rd"], n_rows), ["3rd", "2nd", "1st"], ordered=True
            ),
            "Age": rng.normal(30, 12, n_rows).round(1),
            "Fare": np.exp(rng.normal(3, 1, n_rows)),
            "Town": rng.choice(["Ulm", "Bern", "Graz"], n_rows),
            "Alone": rng.random(n_rows) < 0.5,
            "Sailed": pd.Timestamp("1912-01-01") + pd.to_timedelta(rng.integers(0, 90, n_rows), "D"),
        },
        index=1000 + 7 * np.arange(n_rows),
    )
    logit = -2.0 + 4.5 * (frame["Sex"] == "female") + 1.0 * (frame["Class"] == "1st")
    frame.loc[rng.random(n_rows) < 0.2, "Age"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "Town"] = None
    return frame, np.where(rng.random(n_rows) < 1 / (1 + np.exp(-logit)), "survived", "died")


@pytest.fixture(scope="session")
def passengers():
    """A table of passengers, labels, and a classifier that is fitted to the first 300."""
    from lann import LANNClassifier

    frame, y = make_passengers()
    return frame, y, LANNClassifier(random_state=0, max_iter=4).fit(frame[:300], y[:300])


@pytest.fixture
def odd_queries(passengers):
    """Passengers of whom the first has an unseen category, and the second a gap that no training row has."""
    queries = passengers[0][300:306].copy()
    queries.iloc[0, 4] = "Wien"
    queries.iloc[1, 3] = np.nan
    return queries


@pytest.fixture
def frame(make_table):
    return make_table()


@pytest.fixture
def table_warnings():
    """Return a function that calls another one, and returns its result and the texts of its warnings."""

    from lann.tables import TableWarning

    def call(function, *args, **kwargs):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            result = function(*args, **kwargs)
        assert all(issubclass(warning.category, TableWarning) for warning in caught)
        return result, [str(warning.message) for warning in caught]

    return call

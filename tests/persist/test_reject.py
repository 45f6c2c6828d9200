"""Files of reject options: the same decisions to the bit, and nothing inconsistent is loaded."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from lann import LANNClassifier, load, save
from lann.baselines import GMLVQ
from lann.reject import RejectOption

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.fixture(scope="module")
def table():
    """A table with numbers, a category, gaps and labels of which some are wrong."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(240, 3)), columns=["a", "b", "c"])
    X["kind"] = np.where(rng.random(240) < 0.5, "round", "flat")
    X.loc[rng.random(240) < 0.1, "b"] = np.nan
    flipped = rng.random(240) < 0.15
    return X, np.where((X["a"] > 0) ^ flipped, "up", "down")


QUICK = LANNClassifier(max_iter=1, random_state=0)
OPTIONS = {
    "cost": RejectOption(QUICK, cv=2, random_state=0),
    "classes": RejectOption(QUICK, by="class", coverage=0.8, cv=2, random_state=0, reject_label="ask"),
    "regions": RejectOption(QUICK, by="local", risk=0.1, thresholds="exact", cv=2, random_state=0),
    "novelty": RejectOption(QUICK, cv=2, certainty="novelty", coverage=0.9, random_state=0),
}


@pytest.fixture(scope="module", params=OPTIONS)
def option(request, table):
    return OPTIONS[request.param].fit(*table)


def assert_same(loaded, option, X):
    for method in ("predict", "decision", "certainties", "novelties", "predict_proba"):
        np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(option, method)(X), err_msg=method)
    for name in ("thresholds_", "classes_", "coverage_", "risk_", "novelty_threshold_", "reject_label_"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(option, name), err_msg=name)
    assert loaded.target_ == option.target_
    assert loaded.reasons(X) == option.reasons(X) or option.novelty_share == 0
    for one, other in zip(loaded.held_out_, option.held_out_, strict=True):
        np.testing.assert_array_equal(one, other)
        assert one.dtype == other.dtype


def test_decisions_come_back(option, table, tmp_path):
    X, _ = table
    save(option, tmp_path / "reject.lann")
    loaded = load(tmp_path / "reject.lann")
    assert_same(loaded, option, X)
    assert repr(loaded) == repr(option)
    # A loaded option can choose thresholds for another target.
    other, expected = (one.with_target(coverage=0.7) for one in (loaded, option))
    np.testing.assert_array_equal(other.decision(X), expected.decision(X))
    save(loaded, tmp_path / "again.lann")
    assert (tmp_path / "again.lann").read_bytes() == (tmp_path / "reject.lann").read_bytes()


@pytest.mark.parametrize("estimator", [GMLVQ(max_iter=3)], ids=repr)
def test_baselines_come_back(estimator, table, tmp_path):
    X, y = table
    X = X[["a", "c"]].to_numpy()
    option = RejectOption(estimator, cv=2, random_state=0).fit(X, y == "up")
    save(option, tmp_path / "reject.lann")
    assert_same(load(tmp_path / "reject.lann"), option, X)


@pytest.mark.parametrize("make", [lambda: GMLVQ(max_iter=3), lambda: LANNClassifier(max_iter=1)])
@pytest.mark.parametrize("kind", ["bool", "categories", "text"])
def test_features_that_are_read_as_numbers_come_back(make, kind, tmp_path):
    rows = np.arange(60)
    X = pd.DataFrame({"a": np.sin(rows), "b": rows % 3 == 0})
    if kind == "categories":
        X["b"] = pd.Categorical(rows % 3)
    if kind == "text":
        X["b"] = np.array(["1", "2.5", "-1e3"], object)[rows % 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        option = RejectOption(make(), cv=2, random_state=0).fit(X, np.sin(rows) > 0)
    save(option, tmp_path / "reject.lann")
    np.testing.assert_array_equal(load(tmp_path / "reject.lann").decision(X), option.decision(X))


def test_a_fitted_classifier_is_saved_once(table, tmp_path):
    X, y = table
    clf = LANNClassifier(max_iter=1, random_state=0).fit(X[:120], y[:120])
    option = RejectOption(clf, cv="prefit", random_state=0).fit(X[120:], y[120:])
    save(option, tmp_path / "reject.lann")
    loaded = load(tmp_path / "reject.lann")
    assert loaded.estimator is loaded.estimator_
    assert_same(loaded, option, X)
    assert b"model/parameters/estimator" not in (tmp_path / "reject.lann").read_bytes()


def test_other_classifiers_get_one_sentence(table, tmp_path):
    X, y = table
    option = RejectOption(LogisticRegression(), cv=2).fit(X[["a", "c"]].to_numpy(), y)
    with pytest.raises(ValueError, match=r"has to be one of .* and is 'LogisticRegression'\.$"):
        save(option, tmp_path / "reject.lann")
    assert list(tmp_path.iterdir()) == []


# Hostile files


@pytest.fixture
def regions(table, tmp_path, changes):
    save(OPTIONS["regions"].fit(*table), tmp_path / "reject.lann")
    return changes(tmp_path / "reject.lann")


def change(changed, name, edit):
    """Edit an array of the state, and write the file again."""
    array = edit(changed.array(f"model/{name}"))
    return changed.replace_array(f"model/{name}", array).write()


def with_value(value):
    def edit(array):
        array.flat[0] = value
        return array

    return edit


@pytest.mark.parametrize(
    ("name", "edit", "message"),
    [
        ("thresholds_", with_value(np.nan), "outside its bounds"),
        ("held_out_/certainties", lambda a: a[:-1], "has the length"),
        ("held_out_/groups", with_value(99), "outside its bounds"),
        ("held_out_/rows", lambda a: a[::-1], "ascend"),
        ("plain/rows", lambda a: a[:, :-1], "has the length"),
        ("plain/labels", with_value(2), "outside its bounds"),
        ("plain/has_gaps", lambda a: a.astype(float), "type f8"),
        ("plain/coordinates/feature", with_value(99), "outside its bounds"),
        ("spacing", lambda a: a[:-1], "has the length"),
        ("landmarks_", with_value(240), "not the neighborhood of a training row"),
    ],
)
def test_arrays_are_checked(regions, load_fails, name, edit, message):
    load_fails(change(regions, name, edit), message)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"by": "global"}, "number of thresholds is not that of the classes or regions"),
        ({"by": "nowhere"}, "by must be one of"),
        ({"cost": 0.1}, "At most one of cost, coverage and risk"),
        ({"estimator": 3}, "has to be an estimator"),
    ],
)
def test_parameters_are_checked(regions, load_fails, parameters, message):
    regions.parameters.update(parameters)
    load_fails(regions.write(), message)

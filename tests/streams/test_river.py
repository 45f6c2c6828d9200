"""Classifiers for river: its own checks, its pipelines, and features, labels and values that come and go."""

import copy
import math
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from river import checks, datasets, evaluate, metrics, preprocessing

from lann.streams import river

ADAPTERS = [getattr(river, name) for name in river.__all__]
MEMORIES = {"window_size": 100, "min_window_size": 20}
SMALL = {"LANNClassifier": {"max_points": 60, "refit_every": 500, "max_iter": 1}}


def small(cls, **changes):
    """Return a classifier that learns in a moment."""
    return cls(**(SMALL.get(cls.__name__, MEMORIES) | {"seed": 0} | changes))


def all_checks():
    for cls in ADAPTERS:
        for number, check in enumerate(checks.yield_checks(small(cls, seed=None))):
            yield pytest.param(cls, check, id=f"{cls.__name__}-{number}-{check.__name__}")


@pytest.mark.parametrize(("cls", "check"), list(all_checks()))
def test_checks_of_river(cls, check):
    model = small(cls, seed=None)
    assert model._unit_test_skips() == set()
    check(model)


@pytest.fixture(params=ADAPTERS, ids=lambda cls: cls.__name__)
def model(request):
    return small(request.param)


def stream(n_rows, *, seed=0):
    """Yield rows whose label is whether a + b is positive."""
    rng = np.random.default_rng(seed)
    for a, b in rng.normal(size=(n_rows, 2)).tolist():
        yield {"a": a, "b": b}, a + b > 0


def accuracy_of(model, rows):
    """Return the share of rows that are predicted right before they are learned."""
    right = []
    for x, y in rows:
        right.append(model.predict_one(x) == y)
        model.learn_one(x, y)
    return np.mean(right)


# Pipelines


def test_in_a_pipeline(model):
    pipeline = preprocessing.StandardScaler() | model
    metric = evaluate.progressive_val_score(datasets.Phishing().take(400), pipeline, metrics.Accuracy())
    assert metric.get() > 0.8


# Before anything is learned


def test_nothing_is_known_at_first(model):
    x = {"a": 1.0}
    assert model.predict_one(x) is None
    assert model.predict_proba_one(x) == {}
    table = pd.DataFrame([x], index=["row"])
    assert model.predict_many(table).to_dict() == {"row": None}
    assert model.predict_proba_many(table).shape == (1, 0)


# Features that come and go


def test_a_feature_that_appears_is_used(model):
    rng = np.random.default_rng(1)

    def rows(n_rows, names):
        for values in rng.normal(size=(n_rows, 2)).tolist():
            x = dict(zip("ab", values, strict=True))
            yield {name: x[name] for name in names}, x["b"] > 0

    accuracy_of(model, rows(120, "a"))
    assert accuracy_of(model, rows(120, "a")) < 0.7
    accuracy_of(model, rows(120, "ab"))
    assert accuracy_of(model, rows(120, "ab")) > 0.8


def test_a_feature_that_vanishes_is_a_missing_value(model):
    accuracy_of(model, stream(150))
    found = [
        model.predict_proba_one({"a": a, "b": missing}) for a in (-2.0, 2.0) for missing in (None, math.nan)
    ]
    vanished = [model.predict_proba_one({"a": a}) for a in (-2.0, 2.0)]
    assert found == [vanished[0]] * 2 + [vanished[1]] * 2
    assert vanished[0][True] < 0.5 < vanished[1][True]
    rows = (({"a": x["a"]}, x["a"] > 0) for x, _ in stream(150, seed=1))
    assert accuracy_of(model, rows) > 0.8


def test_rows_without_values_have_the_frequencies_of_the_labels(model):
    for x, _ in stream(40):
        model.learn_one(x, x["a"] > 0)
    model.learn_one({}, "new")
    model.learn_one({"a": None}, "new")
    found = model.predict_proba_one({})
    assert found == model.predict_proba_one({"unknown": 1.0})
    assert found["new"] == 2 / 42
    assert sum(found.values()) == pytest.approx(1.0)
    voted = model.predict_proba_one({"a": 1.0, "b": 0.0})
    assert sum(voted.values()) == pytest.approx(1.0)
    assert voted["new"] > 0


# Values


def test_text_is_a_category(model):
    rng = np.random.default_rng(0)
    colors = {"red": "warm", "orange": "warm", "blue": "cold", "green": "cold"}

    def rows(n_rows):
        for color in rng.choice(list(colors), n_rows).tolist():
            yield {"color": color, "noise": rng.uniform(0, 0.3), "known": True}, colors[color]

    accuracy_of(model, rows(80))
    assert accuracy_of(model, rows(80)) > 0.95
    assert set(model.predict_proba_one({"color": "pink"})) == {"warm", "cold"}


def test_an_invalid_value_leaves_the_model_as_it_is(model):
    accuracy_of(model, stream(60))
    x = {"a": 0.3, "b": 0.1}
    before = model.predict_proba_one(x)
    for wrong in ({"a": math.inf, "b": 0.0}, {"a": 1.0, "new": [1]}):
        with pytest.raises(ValueError, match="Feature"):
            model.learn_one(wrong, True)
        with pytest.raises(ValueError, match="Feature"):
            model.predict_one(wrong)
    assert model.predict_proba_one(x) == before


def test_labels_stay_what_they_are(model):
    labels = ["text", 3, True, 2.5]
    for label, (x, _) in zip(labels * 20, stream(80), strict=True):
        model.learn_one({"a": x["a"] + 10 * labels.index(label)}, label)
    assert list(model.predict_proba_one({"a": 0.0})) == labels
    assert model.predict_one({"a": 10.0}) == 3
    assert model.predict_many(pd.DataFrame({"a": [0.0, 20.0]})).tolist() == ["text", True]
    assert model.predict_proba_many(pd.DataFrame({"a": [0.0]})).columns.tolist() == labels


# Tables


def same_predictions(first, second, rows):
    found, expected = ([model.predict_proba_one(x) for x, _ in rows] for model in (first, second))
    assert found == expected


def test_tables_are_learned_as_their_rows(model):
    rows = list(stream(120))
    for number, (x, _) in enumerate(rows):
        if 30 <= number < 60:
            x["c"] = number / 10
        if number % 7 == 0:
            x["b"] = math.nan
        if number % 31 == 0:
            x["a"] = x["b"] = math.nan
    many = model.clone()
    for x, y in rows:
        model.learn_one(x, y)
    for start, stop in [(0, 1), (1, 50), (50, 110), (110, 110), (110, 120)]:
        table = pd.DataFrame([x for x, _ in rows[start:stop]], columns=["a", "b", "c"])
        many.learn_many(table, pd.Series([y for _, y in rows[start:stop]]))
    same_predictions(many, model, rows[:40])
    table = pd.DataFrame([x for x, _ in rows[:40]])
    expected = [model.predict_proba_one(x)[True] for x, _ in rows[:40]]
    np.testing.assert_allclose(model.predict_proba_many(table)[True], expected, rtol=1e-12)


@pytest.mark.parametrize("text", [False, True])
def test_tables_of_polars(model, text):
    rows = list(stream(60))
    if text:
        rows = [(x | {"text": "up" if x["a"] > 1 else "down"}, y) for x, y in rows]
    many = model.clone()
    for x, y in rows:
        model.learn_one(x, y)
    table = pl.DataFrame([x for x, _ in rows])
    many.learn_many(table, pl.Series([y for _, y in rows]))
    same_predictions(many, model, rows)
    labels = many.predict_many(table)
    assert isinstance(labels, pl.Series)
    assert labels.to_list() == [model.predict_one(x) for x, _ in rows]
    expected = [model.predict_proba_one(x)[True] for x, _ in rows]
    np.testing.assert_allclose(many.predict_proba_many(table)["True"], expected, rtol=1e-12)
    assert model.clone().predict_many(table).to_list() == [None] * 60
    assert model.clone().predict_proba_many(table).shape[1] == 0


def test_tables_of_pyarrow(model):
    rows = list(stream(40))
    many = model.clone()
    for x, y in rows:
        model.learn_one(x, y)
    table = pa.Table.from_pylist([x for x, _ in rows])
    many.learn_many(table, pa.chunked_array([[y for _, y in rows]]))
    same_predictions(many, model, rows)
    assert many.predict_many(table).to_pylist() == [model.predict_one(x) for x, _ in rows]


def test_a_table_needs_a_label_for_each_row(model):
    with pytest.raises(ValueError, match="3 rows and 2 labels"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0, 3.0]}), pd.Series([True, False]))
    twice = pd.DataFrame(np.zeros((2, 2)), columns=["a", "a"])
    with pytest.raises(ValueError, match=r"[Dd]ifferent names|unique"):
        model.learn_many(twice, pd.Series([True, False]))


# Copies


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_a_copy_goes_on_as_the_original(model, copied):
    rows = list(stream(200))
    accuracy_of(model, rows[:120])
    other = copied(model)
    for x, y in rows[120:]:
        assert other.predict_proba_one(x) == model.predict_proba_one(x)
        other.learn_one(x, y)
        model.learn_one(x, y)


def test_invalid_parameters():
    for cls in ADAPTERS:
        with pytest.raises(ValueError, match="max_categories must be an integer of at least 1; got 0"):
            cls(max_categories=0)


# Labels that are not valid, and tables of which a part is not valid

MISSING_LABELS = [None, math.nan, np.float32("nan"), pd.NA, pd.NaT]


def unchanged(model, learn, message):
    """Check that learning fails with a sentence, and that the model goes on as if it had not been tried."""
    other = copy.deepcopy(model)
    with pytest.raises(ValueError, match=message) as failure:
        learn(model)
    assert "\n" not in str(failure.value)
    for x, y in stream(5, seed=7):
        for each in (model, other):
            each.learn_one(x | {"new": 2.0, "last": "text"}, y)
        assert model.predict_proba_one(x | {"new": 1.0}) == other.predict_proba_one(x | {"new": 1.0})


@pytest.mark.parametrize("label", MISSING_LABELS, ids=str)
def test_a_missing_label_leaves_the_model_as_it_is(model, label):
    accuracy_of(model, stream(60))
    wrong = "A row has no label, but .*; leave out rows whose label is missing"
    unchanged(model, lambda m: m.learn_one({"a": 1.0, "new": 2.0}, label), wrong)


@pytest.mark.parametrize("new", [[np.nan, 1.0, np.inf], ["r", "g", math.inf]], ids=["numbers", "text"])
def test_a_wrong_value_in_a_table_leaves_the_model_as_it_is(model, new):
    accuracy_of(model, stream(60))
    X = pd.DataFrame({"a": [1.0, 2.0, 3.0], "new": new})
    unchanged(model, lambda m: m.learn_many(X, pd.Series([True, "late", True])), "Feature 'new' is infinite")


def test_rows_and_labels_of_pandas_have_the_same_index(model):
    X = pd.DataFrame({"a": [1.0, -1.0] * 10}, index=[*range(20)])
    y = pd.Series([True, False] * 10, index=X.index)
    model.learn_many(X, y)
    wrong = "X and y have different indexes: give y in the order of X"
    unchanged(model, lambda m: m.learn_many(X, y.iloc[::-1]), wrong)
    model.learn_many(X, y.tolist())
    model.learn_many(X.iloc[::-1], y.loc[X.iloc[::-1].index])
    assert [model.predict_one({"a": a}) for a in (1.0, -1.0)] == [True, False]

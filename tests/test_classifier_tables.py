"""LANNClassifier on tables: categories, text, bools, dates and gaps."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score

from lann import LANNClassifier, load, save


@pytest.fixture(scope="module")
def people():
    rng = np.random.default_rng(0)
    n = 400
    city = rng.choice(["Ulm", "Bonn", "Köln", "Jena"], n)
    frame = pd.DataFrame(
        {
            "age": rng.integers(18, 90, n).astype(float),
            "city": city,
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), unit="D"),
            "size": pd.Categorical(rng.choice(["s", "m", "l"], n), categories=["s", "m", "l"], ordered=True),
        },
        index=[f"p{row}" for row in range(n)],
    )
    y = np.where(np.isin(city, ["Ulm", "Jena"]) ^ (frame["age"] > 50), "yes", "no")
    frame.loc[rng.random(n) < 0.15, "age"] = np.nan
    frame.loc[rng.random(n) < 0.1, "city"] = None
    return frame, y


@pytest.fixture(scope="module")
def fitted(people):
    frame, y = people
    return LANNClassifier(random_state=0).fit(frame[:300], y[:300])


def test_a_table_is_learned_as_it_is(people, fitted):
    frame, y = people
    known = frame[300:].notna().all(axis=1).to_numpy()
    assert fitted.score(frame[300:][known], y[300:][known]) > 0.9
    kinds = [feature.kind for feature in fitted.schema_.features]
    assert kinds == ["number", "category", "bool", "date", "ordered"]
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(fitted.encoding_.has_gaps, [True, True, False, False, False])


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas])
def test_other_tables_give_the_same(people, fitted, convert):
    frame, y = people
    other = frame.drop(columns="size").reset_index(drop=True)
    one = LANNClassifier(random_state=0, max_iter=2).fit(other[:300], y[:300])
    two = LANNClassifier(random_state=0, max_iter=2).fit(convert(other[:300]), y[:300])
    np.testing.assert_array_equal(one.predict_proba(other), two.predict_proba(convert(other)))
    np.testing.assert_array_equal(one.predict_proba(other), two.predict_proba(other))


def test_a_mask_on_an_array_is_the_same_as_text():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=200), rng.integers(0, 5, 200)])
    y = (X[:, 1] % 2 == 1) ^ (X[:, 0] > 0)
    frame = pd.DataFrame({"x": X[:, 0], "c": [f"{int(c)}" for c in X[:, 1]]})
    by_mask = LANNClassifier(random_state=0, max_iter=3, categorical_features=[False, True]).fit(X, y)
    by_text = LANNClassifier(random_state=0, max_iter=3).fit(frame, y)
    np.testing.assert_array_equal(by_mask.predict_proba(X), by_text.predict_proba(frame))


@pytest.mark.parametrize("metric", ["diagonal", "low_rank", "full"])
def test_contributions_of_features_add_up_to_the_distance(people, metric):
    frame, y = people
    clf = LANNClassifier(random_state=0, metric=metric, max_iter=4).fit(frame[:150], y[:150])
    queries = frame[300:340].copy()
    queries.loc[queries.index[:5], "city"] = "Rom"
    queries["member"] = queries["member"].astype(object)
    queries.loc[queries.index[5:9], "member"] = None
    distances, indices = clf.kneighbors(queries)
    explanation = clf.explain(queries)
    contributions = clf.contributions(queries)
    assert contributions.shape == (40, indices.shape[1], 5)
    np.testing.assert_array_equal(explanation.neighbors, indices)
    np.testing.assert_allclose(explanation.distances, distances, rtol=1e-7)
    np.testing.assert_allclose(contributions.sum(axis=2), distances**2, rtol=1e-7)
    np.testing.assert_array_equal(explanation._unseen[:, 1], [True] * 5 + [False] * 35)
    np.testing.assert_array_equal(explanation._unmeasured[:, 2], [False] * 5 + [True] * 4 + [False] * 31)
    assert not contributions[5:9, :, 2].any()


def test_a_gap_without_position_is_measured_without_the_feature(people, fitted):
    frame, _ = people
    query = frame[300:][frame["age"][300:].notna()][:1]
    values = [query.assign(member=value) for value in (True, False)]
    gap = query.assign(member=None)
    model = fitted.model_
    rows = np.arange(300)[None]
    measured = [model.distances(fitted._validate_queries(v), rows) for v in (*values, gap)]
    contributions = model.contributions(fitted._validate_queries(gap), rows)
    np.testing.assert_allclose(contributions.sum(axis=2), measured[2], rtol=1e-9)
    without = model.levels.without_features([2]).local_metric()
    points = model.levels.without_features([2]).transform(fitted._validate_queries(values[0]))
    np.testing.assert_allclose(without.distances(points, rows), measured[2], rtol=1e-12)


def test_the_index_names_the_rows(people, fitted):
    frame, y = people
    np.testing.assert_array_equal(fitted.ids_, frame.index[:300])
    explanation = fitted.explain(frame[300:303])
    np.testing.assert_array_equal(explanation.neighbor_ids, frame.index.to_numpy()[explanation.neighbors])
    np.testing.assert_array_equal(explanation.query_ids, ["p300", "p301", "p302"])
    shuffled = frame.reset_index(drop=True).sample(frac=1.0, random_state=0)
    clf = LANNClassifier(max_iter=0).fit(shuffled, y[shuffled.index])
    np.testing.assert_array_equal(clf.ids_, shuffled.index)
    assert LANNClassifier(max_iter=0).fit(frame.reset_index(drop=True), y).ids_ is None


def test_partial_fit_adds_categories_and_ids(people):
    frame, y = people
    first = frame["city"].isin(["Ulm", "Bonn"]).to_numpy()
    clf = LANNClassifier(random_state=0, max_iter=4).fit(frame[first], y[first])
    assert clf.schema_.features[1].categories == ("Bonn", "Ulm")
    rest = frame[~first].assign(age=lambda f: f["age"].fillna(40.0))
    clf.partial_fit(rest, y[~first])
    assert clf.schema_.features[1].categories == ("Bonn", "Ulm", "Jena", "Köln")
    assert len(clf.model_.X) == len(frame)
    np.testing.assert_array_equal(clf.ids_, np.concatenate([frame.index[first], rest.index]))
    shown = clf.explain(rest[:3]).values
    assert shown[:, 1].tolist() == rest["city"][:3].where(rest["city"][:3].notna(), None).tolist()
    assert clf.score(frame, y) > 0.8


def test_grid_search_clone_and_pickle(people, fitted):
    frame, y = people
    search = GridSearchCV(LANNClassifier(max_iter=2, random_state=0), {"alpha": [0.5, 1.0]}, cv=2)
    search.fit(frame[:200], y[:200])
    assert search.best_score_ > 0.6
    assert cross_val_score(clone(fitted).set_params(max_iter=2), frame, y, cv=3).mean() > 0.7
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.predict_proba(frame), fitted.predict_proba(frame))


def test_informative_gaps_are_used():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 600)
    X = rng.normal(size=(600, 3))
    X[(rng.random(600) < np.where(y == 1, 0.9, 0.05)), 0] = np.nan
    clf = LANNClassifier(random_state=0).fit(X[:400], y[:400])
    assert clf.score(X[400:], y[400:]) > 0.88


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (dict.fromkeys(["age", "city", "member", "since", "size"]), "X has no value in any row"),
        ({"age": np.inf}, r"Feature 'age' has an infinite value, in row 0"),
    ],
)
def test_invalid_tables_raise(people, change, message):
    frame, y = people
    with pytest.raises(ValueError, match=message):
        LANNClassifier().fit(frame.assign(**change), y)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"age": "old"}, r"Feature 'age' has numbers in the training data; got 'old'\."),
        ({"since": "9999-13-01"}, r"Feature 'since' has dates in the training data; got '9999-13-01'\."),
        ({"member": "perhaps"}, r"Feature 'member' has true and false in the training data; got 'perhaps'\."),
        ({"size": "xl"}, r"Feature 'size' has 'xl', which is not one of its ordered categories"),
    ],
)
def test_invalid_queries_raise(people, fitted, change, message):
    frame, _ = people
    with pytest.raises(ValueError, match=message):
        fitted.predict(frame[:3].assign(**change))


@pytest.mark.parametrize("make", [pd.DataFrame, np.asarray])
def test_a_feature_without_values_is_ignored(people, make, tmp_path):
    frame, y = people
    X = frame[["age"]].assign(weight=np.random.default_rng(0).normal(size=400), height=np.nan)
    if isinstance(make(X), pd.DataFrame):
        X = X.assign(street=None, city=frame["city"])
    with pytest.warns(UserWarning, match=r"Features without any value in the training rows are ignored: '"):
        clf = LANNClassifier(max_iter=0, random_state=0).fit(make(X)[:300], y[:300])
    known = [name for name in X if name not in ("height", "street")]
    without = LANNClassifier(max_iter=0, random_state=0).fit(make(X[known])[:300], y[:300])
    queries = X[300:].assign(height=np.arange(100.0))
    if "street" in X:
        queries["street"] = "Elm Street"
    np.testing.assert_array_equal(clf.predict(make(queries)), without.predict(make(X[known])[300:]))
    np.testing.assert_array_equal(clf.predict_proba(make(queries)), clf.predict_proba(make(X)[300:]))
    explanation = clf.explain(make(queries)[:3])
    assert (explanation.relevances[:, 2] == 0).all()
    row = explanation.row(0)
    assert row.neighbor_values[0, row.feature_names.tolist().index(explanation.feature_names[2])] is None
    clf.partial_fit(make(queries), y[300:])
    save(clf, tmp_path / "model.lann")
    again = load(tmp_path / "model.lann")
    np.testing.assert_array_equal(again.predict_proba(make(queries)), clf.predict_proba(make(queries)))


@pytest.mark.filterwarnings("ignore:Features without any value")
@pytest.mark.parametrize("as_table", [False, True])
def test_features_without_values_in_a_fold_can_be_cross_validated(as_table):
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.normal(size=(120, 3)) + 3.0 * y[:, None]
    X[:, 2] = np.nan
    X[:3, 2] = 1.0
    if as_table:
        X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(d=pd.Series(["x"]).reindex(range(120)))
    clf = LANNClassifier(max_iter=1, random_state=0)
    assert cross_val_score(clf, X, y, cv=KFold(4), error_score="raise").mean() > 0.7


def test_missing_columns_and_labels_raise(people, fitted):
    frame, y = people
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.drop(columns="city"))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        LANNClassifier().fit(frame, y[:-1])
    with pytest.raises(ValueError, match="y is None"):
        LANNClassifier().fit(frame, None)
    with pytest.raises(ValueError, match="A table needs rows and columns; got 0 rows"):
        LANNClassifier().fit(frame[:0], y[:0])


def test_lists_of_rows_can_have_categories(people):
    frame, y = people
    rows = frame[["age", "city"]].astype(object).where(frame[["age", "city"]].notna(), None)
    lists = rows.to_numpy().tolist()
    clf = LANNClassifier(random_state=0, max_iter=2, categorical_features=[1]).fit(lists, y)
    named = LANNClassifier(random_state=0, max_iter=2).fit(frame[["age", "city"]], y)
    np.testing.assert_array_equal(clf.predict_proba(lists), named.predict_proba(frame[["age", "city"]]))


def test_later_rows_are_read_by_the_kinds_of_the_first(people):
    frame, y = people
    X = frame.assign(code=np.tile(["1", "2"], 200))
    clf = LANNClassifier(random_state=0, max_iter=2).partial_fit(X[:300], y[:300])
    later = X[300:].assign(code=3, age=X["age"][300:].fillna(50.0).astype(str))
    clf.partial_fit(later, y[300:])
    kinds = {feature.name: (feature.kind, feature.categories) for feature in clf.schema_.features}
    assert kinds["code"] == ("category", ("1", "2", "3"))
    assert kinds["age"] == ("number", ())
    with pytest.raises(ValueError, match="'size' has 'xl', which is not one of its ordered categories"):
        clf.partial_fit(X[300:].assign(size="xl"), y[300:])

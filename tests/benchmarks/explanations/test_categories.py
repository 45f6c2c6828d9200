from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from benchmarks.common.table_encoder import TableEncoder
from benchmarks.explanations.categories import (
    TABLE_EXPLAINERS,
    TableExplainer,
    change_by_replacing,
    make_cities,
    score_cities,
    score_planted_table,
)
from benchmarks.explanations.explainers import all_explainers
from lann import LANNClassifier
from lann.datasets import make_local_relevance_table

EXPLAINERS = {explainer.name: explainer for explainer in TABLE_EXPLAINERS}


class Oracle:
    """Know the rule of the cities: each column holds half of the vote."""

    def fit(self, table, y):
        return self

    def predict(self, table):
        is_odd = table["city"].str.removeprefix("city ").astype(int) % 2 == 1
        return (is_odd ^ (table["x"] > 0)).to_numpy(int)

    def predict_proba(self, table):
        return np.eye(2)[self.predict(table)]

    def explain(self, table):
        return SimpleNamespace(relevances=np.full(table.shape, 0.5))


@pytest.fixture
def oracle():
    native = EXPLAINERS["lann"]
    return TableExplainer("oracle", "", "lann", lambda n_jobs, seed: Oracle(), native.relevances, "")


def test_cities_and_x_decide_together():
    table, y = make_cities(4000, 0)
    assert table["city"].nunique() == 20
    np.testing.assert_array_equal(Oracle().predict(table), y)
    assert abs(y.mean() - 0.5) < 0.03
    assert abs(y[table["x"] > 0].mean() - 0.5) < 0.03
    assert (np.abs(pd.Series(y).groupby(table["city"]).mean() - 0.5) < 0.15).all()
    again, y_again = make_cities(4000, 0)
    assert again.equals(table)
    np.testing.assert_array_equal(y, y_again)


def test_another_city_changes_half_of_the_vote(oracle, tiny):
    found = score_cities(oracle, 0, tiny, 1)
    assert (found["city"], found["x"], found["accuracy"]) == (0.5, 0.5, 1.0)
    table, _ = make_cities(2000, 0)
    assert change_by_replacing(Oracle(), table, "city", table, 0) == pytest.approx(0.5, abs=0.02)
    assert change_by_replacing(Oracle(), table, "x", table, 0) == pytest.approx(0.5, abs=0.02)


def test_the_planted_features_of_test_rows_count_without_the_gate(tiny):
    table, _, mask = make_local_relevance_table(tiny.n_train + tiny.n_test, random_state=3)
    at = {value: row for row, value in enumerate(table["x0"])}

    def planted(model, queries):
        relevances = mask[[at[value] for value in queries["x0"]]].astype(float)
        relevances[:, 0] = 9.0  # the gate
        return relevances

    first = SimpleNamespace(fit=lambda X, y: SimpleNamespace(predict=lambda X: np.zeros(len(X))))
    explainer = TableExplainer("planted", "", "lann", lambda n_jobs, seed: first, planted, "")
    found = score_planted_table(explainer, 3, tiny, 1)
    assert found["auc"] == 1.0
    assert found["n_rows"] == 20
    assert 0.2 < found["accuracy"] < 0.8


def test_relevances_of_encoded_columns_are_summed():
    table = pd.DataFrame({"city": ["a", "b", "a", "c"], "x": [1.0, 2.0, 3.0, 4.0]})
    encoder = TableEncoder().fit(table)
    # Encoded columns: x, then three cities.
    explain = lambda X: SimpleNamespace(relevances=np.tile([1.0, 2.0, 3.0, 5.0], (len(X), 1)))  # noqa: E731
    model = [encoder, SimpleNamespace(explain=explain)]
    relevances = EXPLAINERS["lann-onehot"].relevances(model, table)
    assert relevances.tolist() == [[10.0, 1.0]] * 4


def test_shap_values_of_encoded_columns_are_summed():
    pytest.importorskip("shap")
    table, y = make_cities(600, 1)
    table["noise"] = np.random.default_rng(0).normal(size=600)
    encoder = TableEncoder().fit(table)
    model = [encoder, DecisionTreeClassifier(random_state=0).fit(encoder.transform(table), y)]
    relevances = EXPLAINERS["tree-shap"].relevances(model, table[:50])
    assert relevances.shape == (50, 3)
    assert (relevances >= 0).all()
    assert relevances[:, 1].mean() > relevances[:, 2].mean()


@pytest.mark.usefixtures("fast_lann")
def test_one_hot_categories_are_explained(tiny):
    explainer = EXPLAINERS["lann-onehot"]
    assert 0.3 < score_planted_table(explainer, 0, tiny, 1)["auc"] <= 1
    found = score_cities(explainer, 0, tiny, 1)
    assert 0 <= found["city"] <= 1.5
    assert 0 <= found["replaced_city"] <= 1


def test_every_explainer_belongs_to_one_of_the_benchmark():
    assert {one.explainer for one in TABLE_EXPLAINERS} <= {one.name for one in all_explainers()}
    assert len(EXPLAINERS) == len(TABLE_EXPLAINERS)
    assert all(one.description.endswith(".") for one in TABLE_EXPLAINERS)


def test_the_city_and_the_number_share_the_vote():
    table, y = make_cities(1500, 0)
    clf = LANNClassifier(random_state=0).fit(table[:1200], y[:1200])
    assert clf.score(table[1200:], y[1200:]) > 0.9
    city, x = clf.explain(table[1200:]).relevances.mean(axis=0)
    # Alone, each changes half of the votes. On the way to a row of the other class both together change all
    # of it: near ones differ more often in x.
    assert city + x == pytest.approx(1.0, abs=0.1)
    assert min(city, x) > 0.25

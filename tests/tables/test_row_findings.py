"""Counterfactuals and suspicious rows in the rows, columns and values of a table."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest

from lann.explain import counterfactuals, queries_of, query_relevances, suspicious_rows
from lann.tables import TableModel


def make_prices(n_rows=80, seed=0):
    """Return a table with prices, dates and bools as people write them."""
    rng = np.random.default_rng(seed)
    price = rng.integers(100, 90_000, n_rows) / 100
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), "D")
    return pd.DataFrame(
        {
            "price": [f"€ {p:,.2f}" for p in price],
            "day": days.strftime("%d.%m.%Y"),
            "member": rng.choice(["true", "false"], n_rows),
            "y": np.where(price > 400, "dear", "cheap"),
        }
    )


@pytest.fixture(scope="module")
def prices():
    frame = make_prices()
    return frame, TableModel.fit(frame, "y")


def test_counterfactuals_are_written_as_the_table_writes_them(prices):
    frame, model = prices
    found = model.counterfactuals(frame, [3, 11, 12])
    assert found.query_rows.tolist() == [3, 11, 12]
    assert found.found.all()
    changes = found.to_frame()
    assert set(changes["query"]) == {3, 11, 12}
    prices_only = changes[changes["feature"] == "price"]
    assert len(prices_only) > 0
    for query, before, after in zip(*(prices_only[c] for c in ("query", "from", "to")), strict=True):
        assert before.text == frame["price"][query]
        assert after.text.startswith("€ ")
        assert len(after.text.partition(".")[2]) == 2  # as many decimals as all prices have
    table = found.to_table()
    assert model.predict(table)["prediction"].tolist() == found.labels.tolist()
    probabilities = model.predict(table)
    for i, label in enumerate(found.labels):
        assert found.row_probabilities[i] == pytest.approx(probabilities[f"probability of {label}"].iloc[i])


def test_constraints_are_in_the_values_of_the_table(prices):
    frame, model = prices
    cheap = np.flatnonzero(frame["y"] == "cheap")[:10]
    only = {
        "range": {"price": ["€ 500.00", "€ 600.00"], "day": [datetime.date(2024, 3, 1), None]},
        "frozen": ["member"],
    }
    found = model.counterfactuals(frame, cheap, constraints=only)
    assert found.found.all()
    plain = counterfactuals(
        model.classifier,
        model.training_rows().iloc[cheap],
        constraints={"range": {"price": [500, 600], "day": ["2024-03-01", None]}, "frozen": ["member"]},
    )
    np.testing.assert_array_equal(found.rows, plain.rows)
    changed = found.rows[found.changed[:, 0], 0]
    assert ((changed >= 500) & (changed <= 600)).all()
    with pytest.raises(ValueError, match="Column 'price' of the constraints must have numbers with"):
        model.counterfactuals(frame, [0], constraints={"range": {"price": ["much", None]}})


def test_the_wanted_class_may_be_text(iris):
    frame = pd.DataFrame(iris[0], columns=list("abcd")).assign(y=iris[1])
    model = TableModel.fit(frame, "y")
    assert model.counterfactuals(frame, [60], target="2").labels.tolist() == [2]
    with pytest.raises(ValueError, match="There is no class 'x'; the classes are 0, 1, 2"):
        model.counterfactuals(frame, [60], target="x")
    with pytest.raises(ValueError, match="no column 'e' in the model for constraints"):
        model.counterfactuals(frame, [60], constraints={"direction": {"e": "up"}})


def test_suspicious_rows_have_row_numbers(training_frame, table_model):
    found = table_model.suspicious_rows(n_neighbors=9)
    plain = suspicious_rows(table_model.classifier, n_neighbors=9)
    np.testing.assert_array_equal(found.scores, plain.scores)
    frame = found.to_frame()
    assert len(frame) == len(training_frame) - 2
    assert training_frame["name"][frame["row"]].tolist() == frame["id"].tolist()
    assert training_frame["group"][frame["row"]].tolist() == frame["label"].tolist()


def test_blocks_are_the_explanation_in_parts(table_model, make_table):
    frame = make_table(30, seed=3)
    whole, parts = table_model.explain(frame), list(table_model.explain_blocks(frame, block_size=12))
    assert [len(part) for part in parts] == [12, 12, 6]
    assert isinstance(table_model, TableModel)
    for name in ("probabilities", "relevances", "neighbors", "query_ids", "true_labels"):
        joined = np.concatenate([getattr(part, name) for part in parts])
        np.testing.assert_array_equal(joined, getattr(whole, name))
    assert [row for part in parts for row in queries_of(part).rows] == list(range(30))
    with pytest.raises(ValueError, match="There is no row 30"):
        list(table_model.explain_blocks(frame, [30]))


def test_relevant_values(table_model, training_frame):
    positions = [0, 5, 40]
    found = table_model.relevant_values(positions, n_features=2)
    relevances = query_relevances(table_model.classifier)[positions]
    for row, values, relevant in zip(table_model.row_numbers[positions], found, relevances, strict=True):
        best = np.argsort(-relevant, kind="stable")[: len(values)]
        assert list(values) == [table_model.feature_names[j] for j in best]
        for name, value in values.items():
            expected = training_frame[name][row]
            assert value is None if pd.isna(expected) else str(value) == str(expected)
    assert table_model.relevant_values([]) == []

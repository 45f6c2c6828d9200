"""Explanations of tables: the user's values, ids, unseen categories and gaps."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lann.explain import influence, nearest_other_class, prototypical_rows, query_relevances, suspicious_rows


@pytest.fixture
def explanation(passengers, odd_queries):
    return passengers[2].explain(odd_queries)


def test_sentences_name_rows_by_the_index(explanation, passengers):
    frame, y, _ = passengers
    sentence = explanation.in_words(n_neighbors=1)[2]
    number = int(sentence.split("similar to row ")[1].split(" ")[0])
    label = y[frame.index.get_loc(number)]
    assert label == explanation.predictions[2]
    assert sentence.startswith(f"{label}, because") or "narrowly" in sentence


def test_sentences_say_what_the_training_data_do_not_have(explanation):
    first, second, third, *_ = explanation.in_words()
    assert first.endswith("; Town is 'Wien', which no training row has.")
    assert second.endswith(
        "; Fare is missing, which it is in no training row, so distances are measured without it."
    )
    assert "training row" not in third


def test_a_feature_that_is_not_measured_has_no_relevance(explanation, passengers, odd_queries):
    assert np.array_equal(explanation.relevances == 0, explanation.unmeasured)
    assert explanation.unmeasured.sum() == 1
    assert explanation.support[1, 3] == 0
    assert not explanation.supports[1, :, 3].any()
    assert not explanation.contributions[1, :, 3].any()
    assert np.array_equal(query_relevances(passengers[2], odd_queries), explanation.relevances)


def test_several_gaps_and_groups_in_a_sentence(explanation, passengers, odd_queries):
    odd_queries.iloc[1, 6] = pd.NaT
    several = passengers[2].explain(odd_queries)
    assert several.in_words()[1].endswith(
        "; Fare and Sailed are missing, which they are in no training row, so distances are measured without "
        "them."
    )
    grouped = several.group_features({"trip": ["Fare", "Sailed"], "origin": ["Town", "Alone"]})
    assert "trip is missing, which it is in no training row" in grouped.in_words()[1]
    assert grouped.in_words()[0].endswith("; origin has a category that no training row has.")
    partly = explanation.group_features({"trip": ["Fare", "Sailed"]})
    assert "missing" not in partly.in_words()[1]


def test_a_row_has_the_values_as_given(explanation, odd_queries, passengers):
    frame, *_ = passengers
    row = explanation.row(0)
    values = dict(zip(row.feature_names, row.values, strict=True))
    assert values["Sex"] == odd_queries["Sex"].iloc[0]
    assert values["Town"] == "Wien"
    assert values["Class"] == odd_queries["Class"].iloc[0]
    assert values["Sailed"] == str(odd_queries["Sailed"].iloc[0].date())
    assert row.title == "Row 3100"
    assert row.value_note(list(row.feature_names).index("Town")) == "in no training row"
    assert row.value_note(list(row.feature_names).index("Sex")) == ""
    second = explanation.row(1)
    assert second.value_note(list(second.feature_names).index("Fare")) == "not measured"
    nearest = frame.loc[row.neighbor_ids[0]]
    column = list(row.feature_names).index("Sex")
    assert row.neighbor_values[0, column] == nearest["Sex"]
    assert replace(row, id="Jane").title == "Row 0: Jane"
    assert replace(row, has_row_numbers=True).title == "Row 0: 3100"


def test_frames_and_dictionaries(explanation):
    frame = explanation.to_frame()
    assert frame["query_id"].unique().tolist() == explanation.query_ids.tolist()
    assert frame["neighbor_id"].iloc[0] == explanation.neighbor_ids[0, 0]
    assert explanation.relevance_frame().index.tolist() == explanation.query_ids.tolist()
    long = explanation.to_long_frame()
    chosen = long[(long["id"] == "3107") & (long["column"] == "Fare")]
    assert chosen["value"].unique().tolist() == ["missing"]
    rows = explanation.to_dict()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[0]["id"] == 3100
    assert rows[0]["values"]["Town"] == "Wien"
    assert rows[1]["values"]["Fare"] is None
    assert [row["unseen"] for row in rows[:2]] == [["Town"], []]
    assert [row["unmeasured"] for row in rows[:2]] == [[], ["Fare"]]
    assert "unseen" not in explanation[2:].to_dict()[0]


def test_shap_shows_the_values(explanation):
    pytest.importorskip("shap")
    found = explanation.to_shap()
    assert found.data.dtype == np.float64
    assert found.display_data[0, 4] == "Wien"
    assert found.display_data[1, 3] == "missing"
    grouped = explanation.group_features({"trip": ["Fare", "Sailed"]}).to_shap()
    assert set(grouped.display_data[:, 3]) == {"several"}


def test_page_and_notebook(explanation, parse_page):
    page = parse_page(explanation.to_html())
    assert "Row 3100" in page.text
    assert "Rows are named by the index of their table." in page.text
    assert "(in no training row)" in page.text
    assert "(not measured)" in page.text
    assert str(explanation.neighbor_ids[0, 0]) in page.text
    assert "Wien" in page.text
    assert "added up over the categories" not in page.text
    notebook = parse_page(explanation._repr_html_())
    assert f"{explanation.neighbor_ids[0, 0]}: " in notebook.text
    assert "3100" in notebook.text


def test_results_about_training_rows_have_their_ids(passengers, odd_queries):
    frame, _, clf = passengers
    for found in (suspicious_rows(clf), prototypical_rows(clf)):
        table = found.to_frame()
        assert table["id"].tolist() == frame.index[table["row"]].tolist()
    table = influence(clf, [3, 8, 20], frame[300:]).to_frame()
    assert len(table) > 0
    assert table["id"].tolist() == frame.index[table["row"]].tolist()
    assert table["query_id"].tolist() == frame.index[300 + table["query"]].tolist()
    contrast = nearest_other_class(clf, odd_queries)
    table = contrast.to_frame()
    assert table["id"].tolist() == frame.index[contrast.rows].tolist()
    assert table["query_id"].tolist() == odd_queries.index.tolist()
    assert contrast.query_values[0, 4] == "Wien"
    assert contrast.row_values[:, 0].tolist() == frame["Sex"].iloc[contrast.rows].tolist()


def test_arrays_have_no_ids(iris):
    from lann import LANNClassifier

    X, y = iris
    clf = LANNClassifier(random_state=0, max_iter=1).fit(X, y)
    assert "id" not in suspicious_rows(clf).to_frame()
    assert "query_id" not in clf.explain(X[:2]).to_frame()
    assert clf.explain(X[:2]).row(1).title == "Row 1"
    contrast = nearest_other_class(clf, X[:2])
    assert np.array_equal(contrast.row_values, contrast.values)

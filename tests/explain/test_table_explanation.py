"""Explanations of tables: the user's values, ids, unseen categories and gaps."""

import json
import re

import numpy as np
import pytest

from lann.explain import influence, nearest_other_class, prototypical_rows, query_relevances, suspicious_rows


@pytest.fixture
def explanation(passengers, odd_queries):
    return passengers[2].explain(odd_queries)


def test_sentences_name_rows_by_the_index(explanation, passengers):
    frame, y, _ = passengers
    sentence = explanation.in_words(n_neighbors=1)[2]
    number = int(re.search(r"such as row (\d+)", sentence)[1])
    label = y[frame.index.get_loc(number)]
    assert label == explanation.predictions[2]
    assert sentence.removeprefix("narrowly ").startswith(f"{label}, with probability")


def test_sentences_say_what_the_training_data_do_not_have(explanation):
    first, second, third, *_ = explanation.in_words()
    assert first.endswith(". Town is 'Wien', which no training row has.")
    assert second.endswith(
        ". Fare is missing, which it is in no training row, so distances are measured without it."
    )
    assert "training row" not in third


def test_a_feature_that_is_not_measured_has_no_relevance(explanation, passengers, odd_queries):
    assert np.argwhere(explanation.relevances == 0).tolist() == [[1, 3]]
    assert explanation.row(1).unmeasured.sum() == 1
    assert not explanation.supports[1, :, 3].any()
    assert not passengers[2].contributions(odd_queries)[1, :, 3].any()
    assert np.array_equal(query_relevances(passengers[2], odd_queries), explanation.relevances)


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
    row.has_row_numbers = True
    assert row.title == "Row 0: 3100"
    row.id = "Jane"
    assert row.title == "Row 0: Jane"


def test_frames_and_dictionaries(explanation):
    neighbors = explanation.to_frame("neighbors")
    assert neighbors["id"].unique().tolist() == [str(name) for name in explanation.query_ids]
    assert neighbors["neighbor_id"].iloc[0] == explanation.neighbor_ids[0, 0]
    assert explanation.to_frame("relevances").index.tolist() == explanation.query_ids.tolist()
    reasons = explanation.to_frame()
    chosen = reasons[(reasons["id"] == "3107") & (reasons["column"] == "Fare")]
    assert chosen["value"].tolist() == ["missing"]
    rows = explanation.to_dict()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[0]["id"] == 3100
    values = [{reason["column"]: reason["value"] for reason in row["reasons"]} for row in rows]
    assert values[0]["Town"] == "Wien"
    assert values[1]["Fare"] is None
    assert [row["unseen"] for row in rows[:2]] == [["Town"], []]
    assert [row["unmeasured"] for row in rows[:2]] == [[], ["Fare"]]
    assert "unseen" not in explanation[2:].to_dict()[0]


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

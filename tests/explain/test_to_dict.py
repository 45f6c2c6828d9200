"""Dictionaries have all of an explanation, in the types of JSON."""

import json

import numpy as np
import pytest

from lann import LANNClassifier


def test_all_of_a_row(two_rows):
    row = two_rows.to_dict()[1]
    assert row["prediction"] == "benign"
    assert row["runner_up"] == "malignant"
    assert row["probabilities"] == pytest.approx({"benign": 0.55, "malignant": 0.45})
    assert row["values"] == {"area": 4.0, "texture": 5.0, "depth": 6.0, "width": 7.0}
    assert row["relevances"] == pytest.approx({"area": 0.0, "texture": 0.2, "depth": 0.005, "width": 0.3})
    assert list(row["supporting"].items()) == [("texture", 0.2), ("depth", 0.005)]
    assert row["opposing"] == {"width": -0.3}
    assert [neighbor["row"] for neighbor in row["neighbors"]] == [40, 50, 60]
    nearest = row["neighbors"][0]
    assert nearest["label"] == "malignant"
    assert nearest["vote_share"] == 0.45
    assert np.sqrt(sum(nearest["contributions"].values())) == nearest["distance"]
    assert "id" not in nearest


def test_it_survives_json(wine):
    X, y = wine
    clf = LANNClassifier(random_state=0, max_iter=2).fit(X, y)
    days = np.datetime64("2020-01-01") + np.arange(len(X))
    explanation = clf.explain(X[:4], ids=days)
    rows = explanation.to_dict()
    assert json.loads(json.dumps(rows, allow_nan=False)) == rows
    assert rows[2]["neighbors"][0]["id"] == str(explanation.neighbor_ids[2, 0])
    assert rows[2]["prediction"] == explanation.predictions[2]
    found = [list(neighbor["contributions"].values()) for neighbor in rows[2]["neighbors"]]
    np.testing.assert_array_equal(found, explanation.contributions[2])


def test_what_is_not_finite_or_unknown_is_none(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], distances=np.array([[1.0, np.inf, np.nan]]))
    row = explanation.to_dict()[0]
    assert [neighbor["distance"] for neighbor in row["neighbors"]] == [1.0, None, None]
    assert row["supporting"] is None
    assert row["opposing"] is None


def test_context(wine):
    X, y = wine
    clf = LANNClassifier(max_iter=0).fit(X[::2], y[::2])
    explanation = clf.explain(np.concatenate([X[2:4], X[:1] * 100]))
    trained, new, far = explanation.to_dict()
    assert (trained["left_out"], new["left_out"], far["left_out"]) == (1, None, None)
    assert (trained["is_far"], new["is_far"], far["is_far"]) == (False, False, True)
    assert new["percentiles"] == dict(zip(explanation.feature_names, explanation.percentiles[1], strict=True))
    assert new["category_shares"] == {}
    assert new["typical"]["x0"] == explanation.typical_texts(explanation.predictions[1])[0]
    assert far["outside"] == explanation.feature_names.tolist()
    assert new["outside"] == []


def test_context_that_is_unknown(two_rows):
    row = two_rows.to_dict()[0]
    unknown = ("percentiles", "category_shares", "typical", "is_far", "left_out")
    assert [row[name] for name in unknown] == [None] * 5
    assert "outside" not in row

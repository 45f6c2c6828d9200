"""Sentences about predictions."""

from dataclasses import replace

import numpy as np
import pytest

from lann import LANNClassifier


def test_a_clear_vote_and_a_close_one(two_rows):
    clear, close = two_rows.in_words()
    assert clear == (
        "benign, because it is similar to rows 10, 20 and 30 in area and texture; depth opposes it."
    )
    assert close == (
        "narrowly benign (55% of the votes, malignant 45%), because it is similar to rows 50 and 60 in "
        "texture, but row 40 is malignant; width opposes it."
    )


def test_number_of_features_and_neighbors(two_rows):
    assert two_rows.in_words(n_features=1, n_neighbors=1, mark="*")[0] == (
        "benign, because it is similar to row 10 in *area*; *depth* opposes it."
    )
    for name in ("n_features", "n_neighbors"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1; got 0"):
            two_rows.in_words(**{name: 0})


def test_neighbors_are_named_by_their_ids(made):
    explanation = made(
        [[0.2, 0.5, 0.3]], [["benign"] * 3], [[[0.2, 0, 0, 0], [-0.2, 0, 0, 0]]], ids=["Ann", "Bea", "Cleo"]
    )
    assert explanation.in_words() == ["benign, because it is similar to Bea, Cleo and Ann in area."]


def test_features_that_distinguish_the_runner_up(made):
    supports = [[0.3, 0.0, 0.0, 0.0], [0.3, -0.4, 0.0, 0.0], [-0.6, 0.4, 0.0, 0.0]]
    labels = np.array([[0, 0, 1], [0, 0, 0]])
    explanation = made([[0.5, 0.3, 0.2]] * 2, labels, [supports] * 2, classes=(0, 1, 2))
    voted, agreed = explanation.in_words()
    assert voted == (
        "class 0, because it is similar to rows 10 and 20 in area; class 1 is next with 20% of the votes, "
        "from which it differs in texture."
    )
    # All neighbors agree; the wider neighborhood gives the runner-up.
    assert agreed == (
        "class 0, because it is similar to rows 40, 50 and 60 in area; it differs from class 1 in texture."
    )


def test_no_single_feature_supports_the_prediction(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[[0.001, 0, 0, -0.001], [-0.001, 0, 0, 0.001]]])
    assert explanation.in_words() == ["benign, because it is similar to rows 10, 20 and 30 overall."]


def test_unknown_supports(made):
    explanation = made([[0.7, 0.298, 0.002]], [["benign", "benign", "malignant"]])
    assert explanation.in_words() == [
        "benign, because it is similar to rows 10 and 20 in area and texture; malignant is next with under "
        "1% of the votes."
    ]


def test_every_row_of_a_fitted_model_gets_a_sentence(wine):
    X, y = wine
    names = np.array(["a", "b", "c"])[y]
    explanation = LANNClassifier(random_state=0, max_iter=4).fit(X[::2], names[::2]).explain(X[1::2])
    sentences = explanation.in_words()
    assert len(sentences) == 89
    for sentence, label in zip(sentences, explanation.predictions, strict=True):
        assert sentence.isascii()
        assert sentence.removeprefix("narrowly ").startswith(label)
        assert sentence.endswith(".")
    assert explanation[7].in_words() == sentences[7:8]


def test_nothing_similar_was_seen(two_rows):
    far, close = replace(two_rows, is_far=np.array([True, True])).in_words()
    assert far == (
        "benign, by the nearest rows 10, 20 and 30, but nothing similar was seen: it is farther from them "
        "than 99% of the training rows are from their neighbors; treat with care."
    )
    assert close == (
        "narrowly benign (55% of the votes, malignant 45%), by the nearest rows 50 and 60 (row 40 is "
        "malignant), but nothing similar was seen: it is farther from them than 99% of the training rows are "
        "from their neighbors; treat with care."
    )


def test_far_rows_name_the_features_outside_the_range(made, two_rows):
    outside = np.array([[True, False, False, True], [False, True, False, False]])
    several, one = replace(two_rows, is_far=np.array([True, True]), outside=outside).in_words()
    assert "nothing similar was seen: area and width are outside the range of the training rows;" in several
    assert "nothing similar was seen: texture is outside the range of the training rows;" in one
    # Values outside the range alone do not make a row far.
    assert (
        replace(two_rows, is_far=np.array([False, False]), outside=outside).in_words() == two_rows.in_words()
    )
    named = made([[0.5, 0.3, 0.2]], [["benign", "benign", "malignant"]], ids=["Ann", "Bea", "Cleo"])
    assert (
        replace(named, is_far=np.array([True]))
        .in_words()[0]
        .startswith("benign, by the nearest rows Ann and Bea, but nothing similar was seen: it is farther")
    )
    assert "malignant is next with 20% of the votes" in replace(named, is_far=np.array([True])).in_words()[0]


def test_training_rows_did_not_vote_on_themselves(two_rows):
    first, second = replace(two_rows, left_out=np.array([-1, 7])).in_words()
    assert first == two_rows.in_words()[0]
    assert second == f"{two_rows.in_words()[1][:-1]}; it is a training row, which did not vote on itself."


def test_a_far_row_is_similar_to_none(wine):
    X, y = wine
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X, y)
    explanation = clf.explain(np.concatenate([X[:1] * 1.001, X[:1] * 1000]))
    near, far = explanation.in_words()
    assert "similar to" in near
    assert "similar to" not in far
    assert "nothing similar was seen: x0, x1, x2, x3, x4 and 8 other features are outside" in far

"""The sentences, word by word."""

import numpy as np
import pytest

from lann import LANNClassifier


def test_a_clear_vote_and_a_close_one(two_rows):
    clear, close = two_rows.in_words()
    assert clear == (
        "benign, because in area and texture it is like rows 10, 20 and 30; depth speaks against it."
    )
    assert close == (
        "narrowly benign (55% of the votes, malignant 45%), because in texture it is like rows 50 and 60, "
        "but row 40 is malignant; width speaks against it."
    )


def test_how_much_is_named(two_rows):
    assert two_rows.in_words(n_features=1, n_neighbors=1, mark="*")[0] == (
        "benign, because in *area* it is like row 10; *depth* speaks against it."
    )
    for name in ("n_features", "n_neighbors"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least 1; got 0"):
            two_rows.in_words(**{name: 0})


def test_neighbors_go_by_their_ids(made):
    explanation = made(
        [[0.2, 0.5, 0.3]], [["benign"] * 3], [[[0.2, 0, 0, 0], [-0.2, 0, 0, 0]]], ids=["Ann", "Bea", "Cleo"]
    )
    assert explanation.in_words() == ["benign, because in area it is like Bea, Cleo and Ann."]


def test_the_runner_up_is_set_apart_by_what_else_there_is(made):
    supports = [[0.3, 0.0, 0.0, 0.0], [0.3, -0.4, 0.0, 0.0], [-0.6, 0.4, 0.0, 0.0]]
    labels = np.array([[0, 0, 1], [0, 0, 0]])
    explanation = made([[0.5, 0.3, 0.2]] * 2, labels, [supports] * 2, classes=(0, 1, 2))
    voted, agreed = explanation.in_words()
    assert voted == (
        "class 0, because in area it is like rows 10 and 20; class 1 comes next with 20% of the votes, set "
        "apart by texture."
    )
    # Nobody voted otherwise, and the places around name the first other class.
    assert agreed == (
        "class 0, because in area it is like rows 40, 50 and 60; texture keeps it from being class 1."
    )


def test_no_feature_speaks_for_it_by_itself(made):
    explanation = made([[0.5, 0.3, 0.2]], [["benign"] * 3], [[[0.001, 0, 0, -0.001], [-0.001, 0, 0, 0.001]]])
    assert explanation.in_words() == ["benign, because as a whole it is like rows 10, 20 and 30."]


def test_a_model_that_tells_only_what_counts(made):
    explanation = made([[0.7, 0.298, 0.002]], [["benign", "benign", "malignant"]])
    assert explanation.in_words() == [
        "benign, because in area and texture it is like rows 10 and 20; malignant comes next with under 1% "
        "of the votes."
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

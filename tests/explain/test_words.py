"""Sentences about predictions."""

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

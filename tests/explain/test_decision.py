"""Decisions of a reject option in explanations: sentences, overview, dictionaries, tables and pages."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from lann import LANNClassifier
from lann.explain import Decision, Overview, overview, with_decisions

ACCEPTED = Decision("accepted", 0.99, 0.71, 0.8, 1.8)
AMBIGUOUS = Decision("ambiguous", 0.54, 0.71, 0.9, 1.8)
FAR = Decision("far", 0.97, 0.71, 4.2, 1.8)


@pytest.fixture(scope="module")
def explained():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    y = np.where(y == 1, "benign", "malignant")
    clf = LANNClassifier(max_iter=2, random_state=0).fit(X[::4], y[::4])
    explanation = clf.explain(X[1:60:4])
    return explanation[np.flatnonzero(~explanation.is_far)[:3]]


@pytest.fixture
def decided(explained):
    return with_decisions(explained, [ACCEPTED, AMBIGUOUS, FAR])


@pytest.mark.parametrize(
    ("decision", "reason"),
    [
        (ACCEPTED, ""),
        (AMBIGUOUS, "Its probability of 54% is below the 71% required."),
        (
            AMBIGUOUS._replace(region="benign", by="class"),
            "Its probability of 54% is below the 71% required of benign.",
        ),
        (
            AMBIGUOUS._replace(region=3, by="local"),
            "Its probability of 54% is below the 71% required in its region.",
        ),
        (AMBIGUOUS._replace(certainty=0.7096), "Its probability of 70.96% is below the 71.00% required."),
        (
            FAR,
            "Its nearest rows are 4.2 times as far away as is usual for training rows; up to 1.8 times is "
            "accepted.",
        ),
        (
            FAR._replace(novelty=2.7e43),
            "Its nearest rows are more than 1000 times as far away as is usual for training rows; up to 1.8 "
            "times is accepted.",
        ),
        (FAR._replace(novelty=np.inf), "Its distance to the training rows is too large to be measured."),
    ],
)
def test_reasons(decision, reason):
    assert decision.reason == reason
    assert decision.is_rejected == bool(reason)


def test_sentences_say_why_a_row_is_rejected(explained, decided):
    before, (accepted, ambiguous, far) = explained.in_words(), decided.in_words()
    assert accepted == before[0]
    start = "Rejected: ambiguous. Its probability of 54% is below the 71% required. Prediction without the "
    assert ambiguous == f"{start}reject option: {before[1]}"
    assert far.startswith("Rejected: far. Its nearest rows are 4.2 times as far away")
    assert "Nearest cases: " in far


def test_a_sentence_does_not_contradict_the_decision(explained):
    """A row that is far for the explanation is not for the reject option, and the other way round."""
    far = replace(explained, is_far=np.array([True, True, False]))
    assert all("Nothing similar was seen" in text for text in far.in_words()[:2])
    decided = with_decisions(far, [ACCEPTED, AMBIGUOUS, FAR])
    assert decided.is_far.tolist() == [False, False, True]
    accepted, ambiguous, rejected = decided.in_words()
    assert "Similar cases: " in accepted
    assert "Similar cases: " in ambiguous
    assert "Nothing similar" not in accepted + ambiguous
    # How far it is, is said once, and not by another measure.
    assert "Similar cases: " not in rejected
    assert "99%" not in rejected
    # Decisions that have not measured it leave it as it is.
    unmeasured = with_decisions(far, [Decision("accepted", 0.99, 0.71)] * 3)
    assert unmeasured.is_far.tolist() == far.is_far.tolist()


def test_overview_counts_decisions(explained, decided):
    found = overview(decided)
    assert found.rows["decision"].tolist() == ["accepted", "ambiguous", "far"]
    assert found.decision_counts == {"accepted": 1, "ambiguous": 1, "far": 1}
    assert overview(explained).decision_counts is None
    labels = decided.predictions.astype(object)
    labels[1] = {"benign": "malignant", "malignant": "benign"}[labels[1]]
    labeled = overview(replace(decided, true_labels=labels))
    assert labeled.accuracy == pytest.approx(2 / 3)
    assert Overview.joined([found, found]).decision_counts == {"accepted": 2, "ambiguous": 2, "far": 2}


def test_page_has_flags_filters_and_counts(explained, decided):
    page = decided.to_html()
    assert "2 of 3 rows are rejected (67%): 1 ambiguous, 1 far." in page
    for text in ("rejected (2)", "ambiguous (1)", "far (1)", "rejected: ambiguous", "rejected: far"):
        assert text in page
    assert "doubtful (" not in page
    assert 'data-flags="ambiguous rejected"' in page
    assert 'data-flags="far rejected"' in page
    assert "rejected" not in explained.to_html().partition("</style>")[2]
    assert "doubtful (" in explained.to_html()
    assert "No row is rejected." in decided[[0, 0]].to_html()


def test_notebook_view_says_why(explained, decided):
    view = decided._repr_html_()
    assert view.count("<strong>rejected: ambiguous</strong>") == 1
    assert AMBIGUOUS.reason in view
    assert "rejected" not in explained._repr_html_()


def test_invalid_decisions_raise(explained):
    with pytest.raises(ValueError, match="a decision for each of the 3 queries; got 1"):
        with_decisions(explained, [ACCEPTED])
    with pytest.raises(ValueError, match="must be a Decision of accepted, ambiguous, far; got Decision"):
        with_decisions(explained, [Decision("perhaps", 0.5, 0.6)] * 3)
    with pytest.raises(ValueError, match="must be a Decision"):
        with_decisions(explained, ["accepted"] * 3)

"""The error without the least certain predictions: figures, the page, and the command's document."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression

from lann import LANNClassifier
from lann.reject import aurc, risk_coverage_curve
from lann.report import RiskCurve, evaluate, evaluation_page
from lann.tables import TrainingTable, cross_validate


@pytest.fixture(scope="module")
def data():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    rng = np.random.default_rng(0)
    flipped = rng.random(len(y)) < 0.1
    return X.iloc[:, :8], np.where((y == 1) ^ flipped, "benign", "malignant")


@pytest.fixture(scope="module")
def evaluation(data):
    X, y = data
    return evaluate(LANNClassifier(max_iter=2, random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])


def test_curve_is_that_of_the_probabilities(evaluation):
    found = evaluation.labels, evaluation.predictions, evaluation.probabilities.max(axis=1)
    model, knn = evaluation.rejection.curves
    assert (model.method, knn.method) == ("LANN", "kNN")
    np.testing.assert_array_equal([model.coverages, model.risks], risk_coverage_curve(*found))
    assert evaluation.rejection.aurc == model.aurc == aurc(*found)
    assert evaluation.rejection.certainty == "probability"
    assert model.risk_at(1.0) == pytest.approx(1 - evaluation.scores["accuracy"].value)


def test_risk_between_steps_and_before_the_first():
    curve = RiskCurve("m", np.array([0.4, 0.8, 1.0]), np.array([0.1, 0.1, 0.2]), 0.1)
    assert [curve.risk_at(c) for c in (0.1, 0.4, 0.9, 1.0)] == pytest.approx([0.1, 0.1, 0.15, 0.2])


def test_certainty_of_a_model_with_held_out_rows_is_that_of_its_reject_option(data):
    X, y = data
    frame = X.assign(y=y)
    table, folds = TrainingTable.from_frame(frame[::2], "y"), []
    quick = LANNClassifier(max_iter=1, random_state=0)
    cross_validate(table, quick, n_folds=2, folds=folds)
    model = table.fit(quick, folds=folds)
    found = evaluate(model, frame[1::2])
    assert found.rejection.certainty == "combined"
    certainties = model.reject_option().certainties(X[1::2])
    assert found.rejection.aurc == aurc(found.labels, found.predictions, certainties)
    assert "The certainty is that of the reject option" in evaluation_page(found)


def test_any_classifier_has_a_curve(data):
    X, y = data
    found = evaluate(LogisticRegression(max_iter=5000).fit(X[::2], y[::2]), X[1::2], y[1::2])
    assert [curve.method for curve in found.rejection.curves] == ["LogisticRegression"]
    assert "Risk-coverage curve" in evaluation_page(found)


def test_sentences(evaluation):
    model = evaluation.rejection.curves[0]
    text = evaluation.rejection.sentence
    assert text.startswith("Without the least certain 10% of the rows, the error is ")
    gone = 1 - 0.9 * model.risk_at(0.9) / model.risk_at(1.0)
    assert f"{gone:.0%} of the mistakes are among these rows." in text
    assert f"(AURC): {model.aurc:.3f}, kNN " in evaluation.rejection.areas


def test_no_mistakes():
    X = np.arange(40.0)[:, None]
    y = (X[:, 0] > 20).astype(int)
    found = evaluate(LANNClassifier(max_iter=1, random_state=0).fit(X, y), X, y)
    assert found.rejection.sentence == "No prediction is wrong, so that there is nothing to reject."
    assert found.rejection.aurc == 0.0
    assert "Risk-coverage curve" in evaluation_page(found)


def test_page_has_the_curve_and_a_table(evaluation):
    page = evaluation_page(evaluation)
    section = page.partition('id="rejection"')[2].partition("</section>")[0]
    assert section.count("<polyline") == 4  # two curves, and their lines in the legend
    assert section.count("<tr>") == 7
    assert evaluation.rejection.sentence in section


def test_tables_and_documents_have_the_figures(evaluation):
    frame = evaluation.to_frame()
    own = frame[(frame["part"] == "rejection") & (frame["method"] == "LANN")]
    assert own["measure"].tolist() == ["aurc"] + ["error"] * 6
    assert own["value"].iloc[0] == evaluation.rejection.aurc
    document = evaluation.to_dict()["rejection"]
    assert document["methods"][0]["aurc"] == evaluation.rejection.aurc
    assert document["methods"][0]["errors"][0] == {
        "accepted": 1.0, "error": pytest.approx(evaluation.rejection.curves[0].risk_at(1.0)),
    }  # fmt: skip
    assert document["certainty"] == "probability"

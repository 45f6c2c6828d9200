"""The page about an evaluation."""

import re

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.ensemble import RandomForestClassifier

from lann.report import evaluate, evaluation_page, save_evaluation
from lann.tables import TrainingTable, cross_validate


@pytest.fixture(scope="module")
def evaluation():
    frame = load_iris(as_frame=True).frame.assign(kind=np.tile(["a", "b", "c"], 50))
    frame["target"] = frame["target"].map({0: "setosa", 1: "versi & co", 2: "<b>virginica</b>"})
    table = TrainingTable.from_frame(frame[::2], "target")
    model = table.fit(scores=cross_validate(table, n_folds=2), data_sha256="0f" * 32)
    return evaluate(model, frame[1::2].reset_index(drop=True), n_resamples=50)


def test_a_page_has_all_parts(evaluation, parse_page, tmp_path):
    (tmp_path / "m.lann").write_bytes(b"model")
    (tmp_path / "t.csv").write_bytes(b"table")
    evaluation = evaluation.with_files(
        model=tmp_path / "m.lann", data=tmp_path / "t.csv", notes=["Odd rows."]
    )
    page = parse_page(evaluation_page(evaluation, title="Flowers"))
    expected = ["Flowers", "About this evaluation", "Scores", "By class", "Confusion matrix"]
    expected += ["Are the probabilities right?", "If the least certain predictions are rejected"]
    expected += ["Where it is worst", "Most confident mistakes", evaluation.rejection.sentence]
    expected += ["Note: Odd rows.", "2-fold cross-validation", "LANN minus kNN", "m.lann", "t.csv", "0f" * 32]
    expected += [evaluation.audit[name].sha256 for name in ("data_file", "model_file")]
    expected += [evaluation.summary, evaluation.reliability.sentences[0], evaluation.slice_verdict]
    for text in expected:
        assert text in page.text
    assert page.count("svg") == 2
    assert page.count("circle") == len(evaluation.reliability.bins)
    assert page.count("article") == len(evaluation.mistakes)
    for sentence in evaluation.mistakes["sentence"]:
        assert sentence in page.text
    counts = evaluation.confusion_matrix.astype(int)
    cells = sum(
        a.get("class", "").split()[-1:] in (["right"], ["wrong"]) for tag, a in page.tags if tag == "td"
    )
    assert cells == np.count_nonzero(counts)


def test_a_page_loads_and_runs_nothing(evaluation):
    text = evaluation_page(evaluation)
    assert "<script" not in text
    assert "<b>virginica" not in text
    assert "versi &amp; co" in text
    without_namespaces = re.sub(r'<link rel="icon" href="data:,">', "", text)
    assert not re.search(r"https?://|url\(|src=|href=", without_namespaces)


def test_many_classes_are_folded(parse_page):
    X, y = load_digits(return_X_y=True)
    y = y + 10 * (np.arange(len(y)) % 3)
    forest = RandomForestClassifier(5, random_state=0).fit(X[:600], y[:600])
    page = parse_page(evaluation_page(evaluate(forest, X[600:900], y[600:900], n_resamples=10)))
    assert "10 more classes" in page.text
    assert page.count("table", "matrix many") == 1
    assert page.count("span", "vertical") == 30
    assert "Most frequent confusions" in page.text


def test_save(evaluation, tmp_path):
    save_evaluation(tmp_path / "e.html", evaluation, title="T")
    assert (tmp_path / "e.html").read_text("utf-8") == evaluation_page(evaluation, title="T")
    with pytest.raises(FileNotFoundError, match="no folder"):
        save_evaluation(tmp_path / "none" / "e.html", evaluation)

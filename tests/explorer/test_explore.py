"""What `lann.explore` puts into a page, and how the page is saved and shown."""

from __future__ import annotations

import json
import re
import sys
import zlib
from base64 import b64decode
from importlib.resources import files

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression

import lann
from lann import LANNClassifier, LANNEmbedding
from lann.explain import suspicious_rows
from lann.explorer._page import MODULES
from lann.tables import TableModel
from tests.explorer.cases import CASES, WITHOUT_MODEL, mixed_table

QUICK = {"method": "pca", "n_reasons": 20}


def unpack(page: str, name: str) -> tuple[dict, dict]:
    """Return the header and the arrays of a part of a page: what data.js does."""
    text = re.search(f'<script type="text/plain" id="{name}">(.*?)</script>', page, re.DOTALL)[1]
    content = zlib.decompress(b64decode(text))
    start = 8 + int(np.frombuffer(content[:4], "<u4")[0])
    header, arrays = json.loads(content[8:start]), {}
    for key, entry in header["arrays"].items():
        dtype = np.dtype(f"<{entry['type']}")
        at, size = start + entry["at"], entry["length"] * dtype.itemsize
        planes = np.frombuffer(content[at : at + size], np.uint8).reshape(dtype.itemsize, -1)
        arrays[key] = np.ascontiguousarray(planes.T).view(dtype).ravel()
    return header, arrays


def rows_of(explorer) -> tuple[dict, dict]:
    return unpack(explorer.to_html(), "rows-data")


def column_of(arrays, number: int) -> np.ndarray:
    values, codes = arrays.get(f"column {number} values"), arrays[f"column {number}"]
    return codes if values is None else values[codes]


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return LANNClassifier(random_state=0).fit(X[::2], y[::2]), X, y


def test_training_rows_are_predicted_without_themselves_and_new_rows_as_by_predict(iris):
    clf, X, y = iris
    explorer = lann.explore(clf, X[1::2], y[1::2], **QUICK)
    header, arrays = rows_of(explorer)
    assert (header["nRows"], header["nTraining"]) == (150, 75)
    assert explorer.n_rows == 150
    explained, new = clf.explain(), X[1::2]
    own = slice(0, 75)
    assert arrays["predictions"][own].tolist() == explained.predictions.tolist()
    np.testing.assert_allclose(arrays["confidences"][own], explained.probabilities.max(axis=1), rtol=1e-6)
    probabilities = clf.predict_proba(new)
    np.testing.assert_allclose(arrays["confidences"][75:], probabilities.max(axis=1), rtol=1e-6)
    of_labels = probabilities[np.arange(75), y[1::2]]
    np.testing.assert_allclose(arrays["labelProbabilities"][75:], of_labels, rtol=1e-6)
    assert arrays["rowNumbers"].tolist() == [*range(75), *range(75)]
    shown = arrays["relevances"].reshape(4, 150).T / 65535 * header["largestRelevance"]
    np.testing.assert_allclose(shown[own], explained.relevances, atol=1e-5)
    suspicion = suspicious_rows(clf)
    np.testing.assert_allclose(arrays["suspicion"], suspicion.scores, rtol=1e-6)
    assert np.flatnonzero(arrays["suspects"]).tolist() == sorted(suspicion.suspects.tolist())
    for number in range(4):
        np.testing.assert_array_equal(column_of(arrays, number)[75:], new.iloc[:, number])


def test_reasons_are_those_of_the_explanation_and_go_to_doubtful_rows_first(iris):
    clf, _X, y = iris
    header, arrays = rows_of(lann.explore(clf, **QUICK))
    rows = arrays["reasonRows"]
    assert len(rows) == 20
    explanation = clf.explain()
    mistakes = np.flatnonzero(explanation.predictions != y[::2].to_numpy())
    assert set(mistakes.tolist()) <= set(rows.tolist())
    predicted = np.arange(20), explanation.predictions[rows]
    parts = {"supports": explanation.supports, "supportErrors": explanation.support_errors}
    for name, of_classes in parts.items():
        np.testing.assert_allclose(arrays[name].reshape(20, 4), of_classes[rows][predicted], atol=1e-6)
    probabilities = explanation.probabilities.max(axis=1)[rows]
    total = arrays["baseValues"] + arrays["supports"].reshape(20, 4).sum(axis=1)
    np.testing.assert_allclose(total, probabilities, atol=1e-6)
    assert "20 rows of 75" in header["notes"][0]


def test_tables_are_shown_in_their_values():
    table, y = mixed_table(120, 0)
    model = TableModel.fit(table.assign(result=y), "result", classifier=LANNClassifier(5, random_state=0))
    new = table[:3].assign(color=["unseen", None, "u"], size=[0.5, 1.5, 9.25])
    explorer = lann.explore(model, model.labeled_rows(new.assign(result=y[:3])).X, y[:3], **QUICK)
    header, arrays = rows_of(explorer)
    kinds = {column["name"]: column["kind"] for column in header["columns"]}
    assert kinds == {
        "size": "number", "wait": "number", "color": "category", "depth": "number", "open": "bool",
        "day": "date", "side": "category",
    }  # fmt: skip
    assert header["target"] == "result"
    assert header["classes"] == ["high", "low", "mid"]
    color = column_of(arrays, 2)
    assert color[120] == -1
    assert np.isnan(color[121])
    assert header["columns"][2]["categories"][int(color[122])] == "u"
    days = column_of(arrays, 5)[:120]
    assert (pd.to_datetime(days, unit="D") == table["day"]).all()


def test_rows_have_their_names(iris):
    clf, X, y = iris
    header, _ = rows_of(lann.explore(clf, X[1::2], y[1::2], ids=[f"flower {n}" for n in range(75)], **QUICK))
    # The index of the training rows is 0, 2, 4, …; names of both kinds are texts.
    assert header["ids"][1] == "2"
    assert header["ids"][-1] == "flower 74"
    header, _ = rows_of(lann.explore(clf, ids=np.arange(75) + 1000, **QUICK))
    assert header["ids"][:2] == [1000, 1001]
    training = lann.explore(clf, X[::2], y[::2], ids=[f"t{n}" for n in range(75)], **QUICK)
    header, _ = rows_of(training)
    assert header["nRows"] == 75
    assert header["ids"][3] == "t3"


def test_training_rows_are_not_shown_twice(iris):
    clf, X, y = iris
    header, _ = rows_of(lann.explore(clf, X[::2], y[::2], **QUICK))
    assert header["nRows"] == header["nTraining"] == 75
    # One of the others has the values of a training row.
    header, _ = rows_of(lann.explore(clf, X, y, **QUICK))
    assert header["nRows"] == 149


def test_labels_that_no_training_row_has(iris):
    clf, X, _ = iris
    header, arrays = rows_of(lann.explore(clf, X[1:4], [0, None, 7], **QUICK))
    assert header["classes"] == ["0", "1", "2", "7"]
    assert arrays["labels"][75:].tolist() == [0, -1, 3]
    assert np.isnan(arrays["labelProbabilities"][76])
    assert arrays["labelProbabilities"][77] == 0


def test_maps_are_those_of_the_embeddings(iris):
    clf, X, _ = iris
    header, arrays = rows_of(lann.explore(clf, X[1:4], method="umap", n_reasons=0))
    assert [own["title"] for own in header["maps"]] == ["Learned metric (UMAP)", "Plain data (UMAP)"]
    from sklearn.frozen import FrozenEstimator

    layout = LANNEmbedding(FrozenEstimator(clf), random_state=0).fit(X[::2])
    own = header["maps"][0]
    shown = arrays["map learned"].reshape(2, -1).T / 65535 * own["span"] + own["low"]
    np.testing.assert_allclose(shown[:75], layout.embedding_, atol=own["span"] / 60_000)
    np.testing.assert_allclose(shown[75:], layout.transform(X[1:4]), atol=own["span"] / 60_000)
    header, _ = rows_of(lann.explore(clf, method="tsne", n_reasons=0))
    assert [own["title"] for own in header["maps"]] == ["Learned metric (t-SNE)", "Plain data (t-SNE)"]


def test_few_rows_are_laid_out_by_principal_components():
    clf = LANNClassifier(1, random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    header, arrays = rows_of(lann.explore(clf, method="umap"))
    assert header["maps"][0]["title"] == "Learned metric (principal components)"
    assert np.ptp(arrays["map learned"][4:]) == 0  # there is no second one


# The rows of cells take seconds; tests/browser has them.
@pytest.mark.parametrize("name", [name for name in [*CASES, *WITHOUT_MODEL] if name != "cells"])
def test_every_model_has_a_page(name):
    clf, queries = (CASES | WITHOUT_MODEL)[name]()
    explorer = lann.explore(clf, None if name == "mixed" else lann_rows(clf, queries), **QUICK)
    header, _ = rows_of(explorer)
    assert header["hasModel"] == (name not in WITHOUT_MODEL)
    assert any("what-if" in note for note in explorer.notes) == (name in WITHOUT_MODEL)
    assert header["nTraining"] == clf.model_.n_rows


def lann_rows(clf, queries):
    """Return queries as the classifier takes them."""
    schema = getattr(clf, "schema_", None)
    return queries if schema is None or schema.is_numeric else schema.to_table(queries)


def test_invalid_arguments(iris, tmp_path):
    clf, X, y = iris
    with pytest.raises(NotFittedError):
        lann.explore(LANNClassifier())
    with pytest.raises(ValueError, match="LogisticRegression has no neighbors to show"):
        lann.explore(LogisticRegression(max_iter=1000).fit(X, y))
    with pytest.raises(ValueError, match="method must be"):
        lann.explore(clf, method="som")
    with pytest.raises(ValueError, match="n_reasons must be"):
        lann.explore(clf, n_reasons=-1)
    with pytest.raises(ValueError, match="y must have a label for each of the 150 rows"):
        lann.explore(clf, X, y[:3])
    with pytest.raises(ValueError, match="ids must have a name for each of the 75 rows"):
        lann.explore(clf, ids=["a"])
    explorer = lann.explore(clf, **QUICK)
    with pytest.raises(ValueError, match=r"ends in \.html"):
        explorer.save(tmp_path / "explorer.pdf")
    with pytest.raises(OSError, match="no folder"):
        explorer.save(tmp_path / "none" / "explorer.html")
    assert list(tmp_path.iterdir()) == []


def test_the_page_is_the_same_for_the_same_seed(iris):
    clf, X, _ = iris
    pages = [lann.explore(clf, X[1:9], method="umap", n_reasons=5) for _ in range(2)]
    (first, one), (second, other) = map(rows_of, pages)
    assert {**first, "created": ""} == {**second, "created": ""}
    for name, values in one.items():
        np.testing.assert_array_equal(values, other[name])


def test_a_notebook_shows_a_frame_or_a_widget(iris, monkeypatch):
    clf, _, _ = iris
    explorer = lann.explore(clf, title='a "title"', **QUICK)
    frame = explorer._repr_html_()
    assert frame.startswith('<iframe title="a &quot;title&quot;" srcdoc="&lt;!doctype html&gt;')
    assert explorer.selected == []
    bundle = explorer._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in str(bundle)
    explorer._widget.selected = [3, 5]  # as the page sets it
    assert explorer.selected == [3, 5]
    monkeypatch.setitem(sys.modules, "anywidget", None)
    plain = lann.explore(clf, **QUICK)
    assert set(plain._repr_mimebundle_()) == {"text/plain", "text/html"}
    with pytest.raises(ImportError, match=r"lann\[notebook\]"):
        _ = plain.selected


def test_modules_import_what_earlier_ones_export():
    folder, exported = files("lann.explorer"), {}
    sources = {path.name.removesuffix(".js") for path in folder.iterdir() if path.name.endswith(".js")}
    assert sources == {*MODULES, "widget"}
    for name in MODULES:
        text = folder.joinpath(f"{name}.js").read_text("utf-8")
        for names, other in re.findall(r'^import \{([^}]*)\} from "\./(\w+)\.js";', text, re.MULTILINE):
            wanted = {part.strip() for part in names.split(",") if part.strip()}
            assert wanted <= exported[other], (name, other)
        exported[name] = set(re.findall(r"^export (?:async )?(?:const|function|class) (\w+)", text, re.M))
        assert len(re.findall(r"^import ", text, re.MULTILINE)) == text.count('.js";\n')

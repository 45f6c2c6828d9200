"""The page of an embedding as text; tests/browser opens it."""

import json
import re
from base64 import b64decode

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from lann.report import embedding_page, save_embedding_figure, save_embedding_page
from lann.report._embedding_data import page_data
from lann.tables import EmbeddedTable, TableWarning

HOSTILE = "</script><img src=x onerror=alert(1)><!--"


def make_embedded(n_rows, *, n_features=4, n_classes=3, n_new=0):
    """Return random rows, some of whose values are text or missing."""
    rng = np.random.default_rng(0)
    n_train = n_rows - n_new
    names = [f"column {j}" for j in range(n_features)]
    values = pd.DataFrame(rng.normal(size=(n_rows, n_features)), columns=names).astype(object)
    values["column 0"] = rng.choice(["red", HOSTILE, None], n_rows)
    shares = rng.random((n_rows, 5))
    return EmbeddedTable(
        n_train=n_train,
        is_held_out=np.arange(n_rows) >= n_train,
        row_numbers=np.arange(n_rows),
        ids=np.array([f"name {i}" for i in range(n_rows)]),
        coordinates=rng.normal(size=(n_rows, 2)) * [3, 1] + 100,
        classes=[f"class {j}" for j in range(n_classes)],
        labels=rng.integers(n_classes, size=n_rows),
        predictions=rng.integers(n_classes, size=n_rows),
        confidences=rng.random(n_rows),
        embedding_predictions=rng.integers(n_classes, size=n_rows),
        neighbors=rng.integers(n_train, size=(n_rows, 5)),
        vote_shares=shares / shares.sum(axis=1, keepdims=True),
        feature_names=names,
        relevances=rng.random((n_rows, n_features)) ** 3,
        values=values,
    )


def decoded(text, dtype, maximum=1):
    return np.frombuffer(b64decode(text), dtype=dtype) / maximum


def test_the_data_are_those_of_the_embedding_up_to_rounding():
    embedded = make_embedded(40, n_new=10)
    text, left_out = page_data(embedded, 3)
    assert left_out == []
    data = json.loads(text)
    assert (data["nRows"], data["nTraining"], data["nTop"]) == (40, 30, 3)
    span = np.ptp(embedded.coordinates, axis=0).max()
    for name, column in zip("xy", embedded.coordinates.T, strict=True):
        found = decoded(data[name], "<u2", 65535) * span + column.min()
        np.testing.assert_allclose(found, column, atol=1e-4 * span)
    assert (decoded(data["labels"], "<u2") - 1 == embedded.labels).all()
    assert (decoded(data["neighbors"], "<i4").reshape(40, 5) == embedded.neighbors).all()
    top = decoded(data["topColumns"], "<u2").reshape(40, 3).astype(int)
    np.testing.assert_array_equal(top, np.argsort(-embedded.relevances, axis=1)[:, :3])
    shown = decoded(data["topRelevances"], "<u2", 65535).reshape(40, 3) * data["largestRelevance"]
    np.testing.assert_allclose(shown, np.take_along_axis(embedded.relevances, top, axis=1), atol=1e-4)
    relevances = decoded(data["relevances"], "u1", 255).reshape(4, 40) * data["largestRelevance"]
    np.testing.assert_allclose(relevances, embedded.relevances[:, data["colorings"]].T, atol=0.005)
    values = decoded(data["values"]["numbers"], "<f4").reshape(40, 3)
    for i in range(40):
        for k, column in enumerate(top[i]):
            value, texts = embedded.values.iloc[i, column], data["values"]["texts"][column]
            if pd.isna(value):
                assert np.isnan(values[i, k])
            elif texts is None:
                assert values[i, k] == np.float32(value)
            else:
                assert texts[int(values[i, k])] == value


@pytest.mark.parametrize(
    ("column", "is_double"),
    [
        ([123756789, 5, 0], True),
        ([1234.56, 0.1, -7], False),
        ([1234.567, 0.1, -7], True),
        ([52.520008, 13.404954, 0.1], True),
        ([1 / 3, 2 / 3, 1.1], False),  # shown with 6 digits
        ([2**53, 1, 0], True),
        ([1e-30, 2e-31, 0], False),
        ([1e-100, 2e-100, 0], True),
    ],
)
def test_numbers_are_stored_as_they_were_before_scaling(column, is_double):
    """In 4 bytes if that is precise enough."""
    embedded = make_embedded(3, n_features=1)
    original = np.array(column, dtype=float)
    mean, deviation = original.mean(), original.std()
    embedded.values["column 0"] = (original - mean) / deviation * deviation + mean
    values = json.loads(page_data(embedded, 1)[0])["values"]
    assert values["isDouble"] == is_double
    found = decoded(values["numbers"], "<f8" if is_double else "<f4")
    np.testing.assert_allclose(found, original, rtol=1e-15 if is_double else 1e-7)


def test_no_text_of_the_table_becomes_markup():
    page = embedding_page(make_embedded(40), title="t", notes=["<b>x</b>"])
    assert "<img" not in page
    assert "<b>" not in page
    assert page.count("</script>") == 2
    text = re.search(r'<script type="application/json" id="data">(.*?)</script>', page)[1]
    assert not set("<>&") & set(text)
    assert any(HOSTILE in texts for texts in json.loads(text)["values"]["texts"] if texts)
    assert "http" not in re.sub(r"http://www.w3.org/\S+", "", page.replace("http-equiv", ""))


def test_every_element_that_the_script_names_is_in_the_page(parse_page):
    """With new rows, which have a control of their own."""
    page = embedding_page(make_embedded(40, n_new=10))
    script = page[page.rindex("<script>") :]
    named = set(re.findall(r"(?:byId|onChange|onClick)\('([a-z-]+)'", script))
    assert len(named) > 30
    ids = {attributes.get("id") for _, attributes in parse_page(page).tags}
    assert named <= ids


def test_twenty_thousand_rows_are_less_than_three_megabytes(tmp_path):
    embedded = make_embedded(20_000, n_features=40, n_classes=20, n_new=2000)
    with pytest.warns(TableWarning) as caught:
        save_embedding_page(tmp_path / "e.html", embedded)
    page = (tmp_path / "e.html").read_text(encoding="utf-8")
    assert len(page.encode()) < 3_000_000
    messages = [str(warning.message) for warning in caught]
    assert messages == [
        "3 columns are listed for each of the 20,000 rows, not 5.",
        "Rows can be colored by the 30 most relevant of 40 columns.",
    ]
    assert all(message in page for message in messages)


def test_accuracies_and_confused_classes_need_no_script(parse_page):
    embedded = make_embedded(9)
    embedded.labels[:] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    embedded.embedding_predictions[:] = [0, 1, 1, 1, 0, 1, 2, 2, 0]
    page = " ".join(parse_page(embedding_page(embedded)).text.split())
    assert "class 0 and class 1 : 3 of 6 rows (50.0%)" in page
    assert "training rows, each without itself" in page
    assert "all 9" in page


def test_invalid_arguments(tmp_path):
    with pytest.raises(ValueError, match="n_features must be"):
        embedding_page(make_embedded(9), n_features=0)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_embedding_page(tmp_path / "none" / "e.html", make_embedded(9))


def test_figures_have_a_high_resolution(tmp_path):
    embedded = make_embedded(40, n_new=10)
    for ending, start in (("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")):
        save_embedding_figure(tmp_path / f"e.{ending}", embedded, title="Wine")
        assert (tmp_path / f"e.{ending}").read_bytes().startswith(start)
    with Image.open(tmp_path / "e.png") as image:
        assert min(image.size) >= 900
        assert image.info["dpi"] == pytest.approx((200, 200), abs=0.1)
    with pytest.raises(ValueError, match=r"ends in \.png, \.svg or \.pdf"):
        save_embedding_figure(tmp_path / "e.gif", embedded)
    with pytest.raises(FileNotFoundError, match="There is no folder"):
        save_embedding_figure(tmp_path / "none" / "e.png", embedded)

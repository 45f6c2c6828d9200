"""What the page of `lann embed` holds: points in few bytes, and numbers that need no script."""

from __future__ import annotations

import json
from base64 import b64decode

import numpy as np
import pandas as pd
import pytest

from lann.cli.embed_summary import MixedPair, summarize
from lann.cli.embedded import NO_LABEL, Embedded
from lann.cli.embedding_page import make_page
from lann.cli.embedding_page.pack import pack


def make_embedded(
    n: int, *, n_columns: int = 4, n_classes: int = 3, n_new: int = 0, seed: int = 0
) -> Embedded:
    """Points at random, some of them text, some missing."""
    rng = np.random.default_rng(seed)
    n_train = n - n_new
    values = pd.DataFrame(rng.normal(size=(n, n_columns)), columns=[f"column {c}" for c in range(n_columns)])
    values = values.astype(object)
    values["column 0"] = rng.choice(["red", "</script>", None], n)
    shares = rng.random((n, 5))
    return Embedded(
        n_train=n_train,
        held_out=np.arange(n) >= n_train,
        numbers=np.arange(n),
        ids=np.array([f"point {i}" for i in range(n)]),
        places=rng.normal(size=(n, 2)) * [3, 1] + 100,
        classes=[f"class {j}" for j in range(n_classes)],
        labels=rng.integers(n_classes, size=n),
        predictions=rng.integers(n_classes, size=n),
        confidences=rng.random(n),
        in_picture=rng.integers(n_classes, size=n),
        neighbors=rng.integers(n_train, size=(n, 5)),
        vote_shares=shares / shares.sum(axis=1, keepdims=True),
        columns=list(values.columns),
        relevances=rng.random((n, n_columns)) ** 3,
        values=values,
    )


def unpacked(text: str, kind: str, full: float = 1) -> np.ndarray:
    return np.frombuffer(b64decode(text), dtype=kind) / full


def test_what_is_packed_is_what_was_there_but_for_rounding():
    embedded = make_embedded(40, n_new=10)
    packed = pack(embedded, 3)
    assert packed.left_out == []
    assert not set("<>&") & set(packed.text)
    data = json.loads(packed.text)
    assert (data["n"], data["training"], data["top"]) == (40, 30, 3)
    span = np.ptp(embedded.places, axis=0).max()
    for name, column in zip("xy", embedded.places.T, strict=True):
        np.testing.assert_allclose(
            unpacked(data[name], "<u2", 65535) * span + column.min(), column, atol=1e-4 * span
        )
    assert (unpacked(data["labels"], "<u2") - 1 == embedded.labels).all()
    assert (unpacked(data["neighbors"], "<i4").reshape(40, 5) == embedded.neighbors).all()
    top = unpacked(data["topColumns"], "<u2").reshape(40, 3).astype(int)
    np.testing.assert_array_equal(top, np.argsort(-embedded.relevances, axis=1)[:, :3])
    shown = unpacked(data["topRelevances"], "<u2", 65535).reshape(40, 3) * data["most"]
    np.testing.assert_allclose(shown, np.take_along_axis(embedded.relevances, top, axis=1), atol=1e-4)
    relevances = unpacked(data["relevances"], "u1", 255).reshape(4, 40) * data["most"]
    np.testing.assert_allclose(relevances, embedded.relevances[:, data["colorings"]].T, atol=0.005)
    values = unpacked(data["values"]["numbers"], "<f4").reshape(40, 3)
    for i in range(40):
        for k, column in enumerate(top[i]):
            value, texts = embedded.values.iloc[i, column], data["values"]["texts"][column]
            if pd.isna(value):
                assert np.isnan(values[i, k])
            elif texts is None:
                assert values[i, k] == np.float32(value)
            else:
                assert texts[int(values[i, k])] == value


WRITTEN = [
    ([123756789, 5, 0], True),
    ([1234.56, 0.1, -7], False),
    ([1234.567, 0.1, -7], True),
    ([52.520008, 13.404954, 0.1], True),
    ([1 / 3, 2 / 3, 1.1], False),  # shown with 6 digits
    ([2**53, 1, 0], True),
    ([1e-30, 2e-31, 0], False),
    ([1e-100, 2e-100, 0], True),
]


@pytest.mark.parametrize(("column", "wide"), WRITTEN)
def test_numbers_come_as_they_were_written(column, wide):
    """Also where the model knows them scaled only, and scaling back rounds; in 4 bytes if these do."""
    embedded = make_embedded(3, n_columns=1)
    written = np.array(column, dtype=float)
    mean, spread = written.mean(), written.std()
    embedded.values["column 0"] = (written - mean) / spread * spread + mean
    values = json.loads(pack(embedded, 1).text)["values"]
    assert values["wide"] == wide
    found = unpacked(values["numbers"], "<f8" if wide else "<f4")
    np.testing.assert_allclose(found, written, rtol=1e-15 if wide else 1e-7)


def test_columns_without_relevance_are_not_told():
    """Rounding leaves 1e-16 of a relevance, which is none."""
    embedded = make_embedded(3)
    embedded.relevances[:] = [0.5, 1e-16, 1e-16, 0.0]
    embedded.relevances[2, 0] = 1e-17
    table = embedded.to_frame(3)
    assert table["feature_1"].fillna("").tolist() == ["column 0", "column 0", ""]
    assert table["relevance_1"].fillna(0).tolist() == [0.5, 0.5, 0]
    assert table[["feature_2", "relevance_2", "feature_3", "relevance_3"]].isna().all(axis=None)


def test_twenty_thousand_points_stay_below_three_megabytes():
    embedded = make_embedded(20_000, n_columns=40, n_classes=20, n_new=2000)
    page, left_out = make_page(embedded, summarize(embedded), title="many", notes=[], n_columns=5)
    assert len(page.encode()) < 3_000_000
    assert left_out == [
        "3 columns are told for each of the 20,000 points, not 5.",
        "Of 40 columns, the 30 most relevant can color the points.",
    ]
    assert all(said in page for said in left_out)


def test_beyond_that_values_are_left_out():
    packed = pack(make_embedded(20_001), 3)
    assert packed.left_out == ["Values are told for up to 20,000 points."]
    assert json.loads(packed.text)["values"] is None


def test_the_numbers_count_what_they_say():
    embedded = make_embedded(60, n_new=20)
    embedded.labels[50:] = NO_LABEL
    summary = summarize(embedded)
    for place, line in enumerate(summary.lines[:-1]):
        own = np.flatnonzero(embedded.labels == place)
        for score, points in ((line.training, own[own < 40]), (line.unseen, own[own >= 40])):
            assert score.n == len(points)
            assert score.by_vote == np.mean(embedded.predictions[points] == place)
            assert score.in_picture == np.mean(embedded.in_picture[points] == place)
    assert summary.whole.training.n == 40
    assert summary.whole.unseen.n == 10
    assert summary.pairs_unseen


def test_the_pairs_that_mix_are_counted_in_both_directions():
    embedded = make_embedded(9)
    embedded.labels[:] = [0, 0, 0, 1, 1, 1, 2, 2, 2]
    embedded.in_picture[:] = [0, 1, 1, 1, 0, 1, 2, 2, 0]
    summary = summarize(embedded)
    assert summary.pairs == [MixedPair(0, 1, 3, 6), MixedPair(0, 2, 1, 6)]
    assert not summary.pairs_unseen
    page, _ = make_page(embedded, summary, title="few", notes=[], n_columns=2)
    assert "3 of 6 taken for the other (50.0%)" in page

"""What `lann embed` learns from and what it places: copies, notes, very few rows."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

from lann.cli.embed_rows import Settings, Source, rows_to_embed
from lann.cli.embedded import NO_VOTER, make_embedded
from lann.embedding import LANNEmbedding


def make_points(n: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 2
    return pd.DataFrame({"a": kind + rng.normal(0, 0.4, n), "b": rng.normal(size=n), "c": kind}).round(6)


def held_out(frame: pd.DataFrame, folder, share: float = 0.3, **given) -> Source:
    frame.to_csv(folder / "data.csv", index=False)
    usual = {
        "target": "c", "id": None, "drop": [], "metric": None, "balanced": False, "test": None, "jobs": None,
        "seed": 0, "held_out": share,
    }  # fmt: skip
    return rows_to_embed(folder / "data.csv", None, Settings(**usual | given), told=lambda what: None)


def sides(source: Source, frame: pd.DataFrame) -> tuple[set, set]:
    """The rows' values that are learned from, and those that are held out."""
    training, held = source.trained.model.training_rows_, source.new.numbers
    assert sorted([*training, *held]) == list(range(len(frame)))
    return tuple(
        set(map(tuple, frame.fillna(-1).iloc[rows][["a", "b"]].to_numpy())) for rows in (training, held)
    )


def test_copies_are_held_out_together(tmp_path):
    frame = make_points(40)
    frame.loc[3, "b"] = np.nan
    frame = pd.concat([frame] * 3, ignore_index=True)
    source = held_out(frame, tmp_path)
    training, held = sides(source, frame)
    assert not training & held
    assert len(source.new.numbers) == 36
    assert source.notes == [
        "80 rows (67%) have the values of others before them; copies are held out together or not at all: "
        "36 of 120 rows are held out. Among training rows, copies vote on each other, which flatters those."
    ]
    assert (source.new.same < 0).all()


def test_without_copies_nothing_is_said(tmp_path):
    frame = make_points(40)
    source = held_out(frame, tmp_path)
    assert source.notes == []
    assert len(source.new.numbers) == 12


def test_copies_that_cannot_stay_together_do_not_count_as_unseen(tmp_path):
    """All of a class are one row, many times: it must be on both sides."""
    frame = make_points(60)
    frame.loc[frame["c"] == 1, ["a", "b"]] = [5.0, 5.0]
    source = held_out(frame, tmp_path)
    (said,) = source.notes
    assert said == "9 rows held out (50%) also stand in the training data; they count as unseen, and flatter."
    frame = pd.concat([frame.iloc[:2], frame[frame["c"] == 1], frame.iloc[:1]], ignore_index=True)
    frame.loc[0, ["a", "b"]] = [1.0, 2.0]
    source = held_out(frame, tmp_path, 0.2)
    (said,) = source.notes
    assert "do not count as unseen" in said


def test_a_column_is_noted_once(tmp_path):
    frame = make_points(60)
    frame["date"] = [f"day {row}" for row in range(60)]
    frame["nearly constant"] = ["other", *["same"] * 59]
    frame.loc[5, "c"] = np.nan
    for seed in range(3):  # the one other value is held out, or not
        notes = held_out(frame, tmp_path, seed=seed).notes
        about = [re.search(r"Column '([^']*)' is ignored", text) for text in notes]
        names = [found[1] for found in about if found]
        assert len(set(names)) == len(names)
        assert "Column 'date' is ignored: text that differs in most rows (59 values)." in notes
        assert sum("have no 'c'" in text for text in notes) == 1


@pytest.mark.parametrize("n_train", [5, 6])
def test_of_few_rows_none_votes_on_itself(tmp_path, n_train):
    source = held_out(make_points(10), tmp_path, 1 - n_train / 10)
    layout = LANNEmbedding(
        source.trained.classifier, prefit=True, method="tsne", n_epochs=250, random_state=0
    )
    layout.fit(source.trained.classifier._model.levels.X)
    embedded = make_embedded(source.trained, layout, source.new)
    assert embedded.n_train == n_train
    own = np.arange(n_train)[:, None]
    assert not (embedded.neighbors[:n_train] == own).any()
    nobody = embedded.neighbors == NO_VOTER
    assert nobody[:n_train].sum() == (n_train if n_train == 5 else 0)
    assert not nobody[n_train:].any()
    assert (embedded.vote_shares[nobody] == 0).all()
    np.testing.assert_allclose(embedded.vote_shares.sum(axis=1), 1)

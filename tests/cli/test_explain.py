from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import lann
from lann.cli.trained import Trained

COLUMNS = {"size [cm]", "noise", "colour", "member"}


def explained(run, model, new, row, path) -> pd.DataFrame:
    run("explain", model, new, "--row", row, "-o", path)
    return pd.read_csv(path)


def test_the_tables_are_in_the_users_words(run, model, new):
    printed = run("explain", model, new, "--row", 1)
    assert "size [cm]" in printed
    assert "colour_" not in printed
    assert "nearest training rows" in printed
    assert "%" in printed


def test_the_file_has_every_neighbour_and_column(run, model, new, tmp_path):
    out = explained(run, model, new, 4, tmp_path / "e.csv")
    assert len(out) == 5 * 4
    assert set(out["column"]) == COLUMNS
    assert set(out["row"]) == {4}
    # contributions of the columns add up to the distance, shares to 1
    sums = out.groupby("neighbor_row")[["contribution", "relevance"]].sum()
    distances = out.groupby("neighbor_row")["distance"].first()
    np.testing.assert_allclose(sums["contribution"], distances, atol=1e-12)
    np.testing.assert_allclose(sums["relevance"], 1)
    assert out.groupby("neighbor_row")["vote_share"].first().sum() == pytest.approx(1)


def test_neighbours_are_rows_of_the_file_with_their_values(run, model, new, tmp_path):
    """Two rows of the file had no label; the numbers of those after them stay right."""
    out = explained(run, model, new, 9, tmp_path / "e.csv")
    training = pd.read_csv(model.parent / "data.csv")
    named = training.set_index("name")
    assert (out["neighbor_row"] > 3).any()
    for _, line in out.iterrows():
        assert training["name"][line["neighbor_row"]] == line["neighbor_id"]
        assert training["group"][line["neighbor_row"]] == line["neighbor_label"]
        value = named.loc[line["neighbor_id"], line["column"]]
        if pd.notna(value):
            assert str(line["neighbor_value"]) == (f"{value:.6g}" if isinstance(value, float) else str(value))


def test_missing_cells_are_called_missing(run, model, new, tmp_path):
    out = explained(run, model, new, 3, tmp_path / "e.csv")
    assert set(out.loc[out["column"] == "size [cm]", "value"]) == {"missing"}
    assert "missing" in run("explain", model, new, "--row", 3)


def test_categories_are_gathered_into_their_column(model):
    trained = Trained.load(model)
    assert trained.origins() == ["size [cm]", "noise", *["colour"] * 3, *["member"] * 2]


def test_models_from_python_are_explained_too(run, tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])
    X.to_csv(tmp_path / "x.csv", index=False)
    for model in (lann.LANNClassifier(max_epochs=0), make_pipeline(StandardScaler(), lann.LANNClassifier())):
        lann.save(model.fit(X, X["u"] > 0), tmp_path / "m.skops")
        out = explained(run, tmp_path / "m.skops", tmp_path / "x.csv", 7, tmp_path / "e.csv")
        assert set(out["column"]) == {"u", "v", "w"}
        assert out["neighbor_row"][0] == 7


def test_wrong_rows_are_one_sentence(fails, model, new, tmp_path):
    assert "There is no row 10 in new.csv; its rows are 0 to 9." in fails("explain", model, new, "--row", 10)
    assert "There is no row -1" in fails("explain", model, new, "--row", -1)
    assert "unknown kind" in fails("explain", model, new, "-o", tmp_path / "e.txt")
    assert "There is no file" in fails("explain", model, tmp_path / "none.csv")
    assert os.listdir(tmp_path) == ["new.csv"]

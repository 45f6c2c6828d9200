from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import lann
from lann.cli.trained import Trained

COLUMNS = {"size [cm]", "noise", "color", "member"}


def explained(run, model, new, row, path) -> pd.DataFrame:
    run("explain", model, new, "--row", row, "-o", path)
    return pd.read_csv(path)


def test_the_tables_are_in_the_users_words(run, model, new):
    printed = run("explain", model, new, "--row", 1)
    assert "size [cm]" in printed
    assert "color_" not in printed
    assert "nearest training rows" in printed
    assert "%" in printed


def test_it_says_what_the_numbers_mean(run, model, new):
    printed = " ".join(run("explain", model, new, "--row", 1).split())
    assert "share of the vote that changes when this column's value is another's" in printed
    label = printed.split("Predicted ")[1].split(",")[0]
    other = {"in": "out", "out": "in"}[label]
    assert f"Next is {other}, with" in printed
    assert f"{label}, because in" in printed
    assert f"brings votes for {label}" in printed


def test_where_there_are_more_classes_the_lead_is_shown(run, tmp_path):
    X = pd.DataFrame(np.random.default_rng(0).normal(size=(60, 3)), columns=["u", "v", "w"])
    X.to_csv(tmp_path / "x.csv", index=False)
    lann.save(lann.LANNClassifier(random_state=0).fit(X, np.digitize(X["u"], [-0.4, 0.4])), tmp_path / "m")
    printed = run("explain", tmp_path / "m", tmp_path / "x.csv", "-o", tmp_path / "e.csv")
    assert "how much of the lead over" in printed
    out = pd.read_csv(tmp_path / "e.csv").set_index("column")
    classifier = lann.load(tmp_path / "m")
    explanation = classifier.explain(X[:1])
    for place, name in enumerate(X.columns):
        first = out.loc[name].iloc[0]
        assert first["relevance"] == pytest.approx(explanation.relevances[0, place])
        assert first["support"] == pytest.approx(explanation.support[0, place])
        assert first["separation"] == pytest.approx(explanation.separation[0, place])
        assert first["runner_up"] == explanation.runner_up[0]


def test_the_file_has_every_neighbor_and_column(run, model, new, tmp_path):
    out = explained(run, model, new, 4, tmp_path / "e.csv")
    assert len(out) == 5 * 4
    assert set(out["column"]) == COLUMNS
    assert set(out["row"]) == {4}
    # contributions of the columns add up to the distance
    sums = out.groupby("neighbor_row")["contribution"].sum()
    distances = out.groupby("neighbor_row")["distance"].first()
    np.testing.assert_allclose(sums, distances, atol=1e-12)
    assert out.groupby("neighbor_row")["vote_share"].first().sum() == pytest.approx(1)


def test_neighbors_are_rows_of_the_file_with_their_values(run, model, new, tmp_path):
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


def test_gaps_of_the_training_rows_are_called_missing_too(run, model, tmp_path):
    """Row 5 of the training data has no color; it is its own nearest neighbor."""
    out = explained(run, model, model.parent / "data.csv", 5, tmp_path / "e.csv").set_index(
        ["neighbor_row", "column"]
    )
    assert out.loc[(5, "color"), "neighbor_value"] == "missing"
    assert out.loc[(5, "noise"), "neighbor_value"] != "missing"
    others = out["neighbor_value"].xs("color", level="column").drop(5)
    assert set(others) <= {"red", "green", "blue_ish"}


def test_models_of_before_gaps_were_noted_are_explained(run, model, tmp_path):
    older = lann.load(model)
    del older.training_gaps_
    lann.save(older, tmp_path / "m.skops")
    out = explained(run, tmp_path / "m.skops", model.parent / "data.csv", 5, tmp_path / "e.csv")
    assert 5 in set(out["neighbor_row"])
    assert "missing" not in set(out["neighbor_value"].astype(str))


def test_several_rows(run, model, new, tmp_path):
    arguments = ["--row", 7, "--rows", "2:4", "--row", 2, "--id", "name", "-o", tmp_path / "e.csv"]
    printed = run("explain", model, new, *arguments)
    assert [line for line in printed.splitlines() if line.startswith("Row ")] == [
        "Row 7, p7",
        "Row 2, p2",
        "Row 3, p3",
    ]
    out = pd.read_csv(tmp_path / "e.csv")
    assert list(dict.fromkeys(out["row"])) == [7, 2, 3]
    assert list(dict.fromkeys(out["id"])) == ["p7", "p2", "p3"]
    # The same as each alone.
    alone = explained(run, model, new, 3, tmp_path / "alone.csv")
    together = out[out["row"] == 3].drop(columns="id").reset_index(drop=True)
    pd.testing.assert_frame_equal(together, alone)


def test_categories_are_gathered_into_their_column(model):
    trained = Trained.load(model)
    assert trained.origins() == ["size [cm]", "noise", *["color"] * 3, *["member"] * 2]


def test_models_from_python_are_explained_too(run, tmp_path):
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])
    X.to_csv(tmp_path / "x.csv", index=False)
    for model in (lann.LANNClassifier(max_iter=0), make_pipeline(StandardScaler(), lann.LANNClassifier())):
        lann.save(model.fit(X, X["u"] > 0), tmp_path / "m.skops")
        out = explained(run, tmp_path / "m.skops", tmp_path / "x.csv", 7, tmp_path / "e.csv")
        assert set(out["column"]) == {"u", "v", "w"}
        assert out["neighbor_row"][0] == 7
        values = out.groupby("column")["value"].first()
        np.testing.assert_allclose(values.astype(float), X.loc[7, ["u", "v", "w"]], rtol=1e-5)


def test_columns_that_a_pipeline_makes_have_the_values_it_made(run, tmp_path):
    from sklearn.decomposition import PCA
    from sklearn.pipeline import make_pipeline

    X = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])
    X.to_csv(tmp_path / "x.csv", index=False)
    model = make_pipeline(PCA(2), lann.LANNClassifier(max_iter=0)).fit(X, X["u"] > 0)
    lann.save(model, tmp_path / "m.skops")
    out = explained(run, tmp_path / "m.skops", tmp_path / "x.csv", 7, tmp_path / "e.csv")
    made = model[0].transform(X)[7]
    assert out.groupby("column")["value"].first().tolist() == pytest.approx(made.tolist(), rel=1e-5)


def test_wrong_rows_are_one_sentence(fails, model, new, tmp_path):
    assert "There is no row 10 in new.csv; its rows are 0 to 9." in fails("explain", model, new, "--row", 10)
    assert "There is no row -1" in fails("explain", model, new, "--row", -1)
    assert "There is no row 10" in fails("explain", model, new, "--rows", "10:12")
    for wrong in ("3", "3:3", "a:b", "5:2", "-1:2", ""):
        assert f"like 0:20; got {wrong!r}" in fails("explain", model, new, f"--rows={wrong}")
    assert "no column 'x' for --id" in fails("explain", model, new, "--id", "x")
    assert "unknown kind" in fails("explain", model, new, "-o", tmp_path / "e.txt")
    assert "There is no file" in fails("explain", model, tmp_path / "none.csv")
    assert os.listdir(tmp_path) == ["new.csv"]

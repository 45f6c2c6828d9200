from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import lann
from lann.tables import TableModel, _reading, write_table

FEATURES = ["size [cm]", "color", "member", "noise"]


def line_of(printed, name):
    """Return the cells of the line of a printed table that starts with a name."""
    line = next(line for line in printed.splitlines() if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_scores_are_printed_and_the_classifier_is_saved(run, csv, frame, tmp_path):
    printed = run("fit", csv, "--target", "group", "--id", "name", "--folds", 3, "-o", tmp_path / "m.lann")
    assert (
        "80 rows; 4 columns: 2 with numbers, 1 with categories, 1 with true/false; 2 are not used" in printed
    )
    assert "2 classes of group: " in printed
    assert "3-fold cross-validation" in printed
    assert all(name in printed for name in ("accuracy", "balanced accuracy", "AUC", "log-loss", "Recall"))
    for method in ("LANN", "kNN", "majority"):
        cells = line_of(printed, method)
        assert len(cells) == 5
        assert all(re.fullmatch(r"\d\.\d{3} ± \d\.\d{3}", cell) for cell in cells[1:])
    name, rows, *recalls = line_of(printed, "in")
    assert (name, int(rows), len(recalls)) == ("in", (frame["group"] == "in").sum(), 3)
    assert "Note: Column 'empty' is ignored: it is empty." in printed
    assert "Columns" not in printed
    model = lann.load(tmp_path / "m.lann")
    assert isinstance(model, lann.LANNClassifier)
    assert list(model.feature_names_in_) == FEATURES
    assert model.ids_[:2].tolist() == ["p0", "p1"]
    assert np.mean(model.predict(frame[FEATURES]) == frame["group"]) > 0.9


def test_what_is_done_with_each_column(run, frame, tmp_path):
    frame["day"] = [f"2024-05-{row % 28 + 1:02d}" for row in range(80)]
    frame.to_csv(tmp_path / "d.csv", index=False)
    options = ("--target", "group", "--drop", "noise", "--no-cv", "--columns", "-o", tmp_path / "m.lann")
    printed = run("fit", tmp_path / "d.csv", *options)
    low, high = frame["size [cm]"].min(), frame["size [cm]"].max()
    expected = ["size [cm]", "number", f"{low} to {high}", "1.2%", "it has numbers"]
    assert line_of(printed, "size [cm]") == expected
    assert line_of(printed, "color")[1:4:2] == ["category", "1.2%"]
    assert set(line_of(printed, "color")[2].split(", ")) == {"red", "blue_ish", "green"}
    assert line_of(printed, "day")[1:3] == ["date", "2024-05-01 to 2024-05-28"]
    assert line_of(printed, "noise") == ["noise", "not used", "", "", "it is dropped"]
    assert line_of(printed, "empty") == ["empty", "not used", "", "", "it is empty"]


def test_options_override_what_columns_have(run, fails, frame, tmp_path):
    frame["code"] = np.arange(80) % 4
    frame["day"] = [f"{row % 9 + 1}/{row % 7 + 1}/2024" for row in range(80)]
    frame.to_csv(tmp_path / "d.csv", index=False)
    given = (
        "fit",
        tmp_path / "d.csv",
        "--target",
        "group",
        "--id",
        "name",
        "--no-cv",
        "-o",
        tmp_path / "m.lann",
    )
    printed = run(*given, "--categorical", "code", "--dates", "day=%d/%m/%Y", "--numeric", "noise")
    assert "6 columns: 2 with numbers, 2 with categories, 1 with true/false, 1 with dates" in printed
    kinds = {feature.name: feature.kind for feature in lann.load(tmp_path / "m.lann").schema_.features}
    assert (kinds["code"], kinds["day"], kinds["noise"]) == ("category", "date", "number")
    assert "must have numbers; row 0 has" in fails(*given, "--numeric", "color")
    assert "named in --numeric and in another option" in fails(
        *given, "--numeric", "code", "--categorical", "code"
    )
    assert "no format of dates after =" in fails(*given, "--dates", "day=x")
    assert "did you mean 'color'?" in fails(*given, "--categorical", "kolor")


def test_options_are_those_of_the_model(run, csv, tmp_path):
    options = "--neighbors 3 --jobs 1 --seed 7 --no-cv --drop noise --drop color --metric low_rank --balanced"
    run("fit", csv, "--target", "group", *options.split(), "-o", tmp_path / "m.lann")
    model = lann.load(tmp_path / "m.lann")
    assert (model.n_neighbors, model.n_jobs, model.random_state) == (3, None, 7)
    assert (model.metric, model.class_weight) == ("low_rank", "balanced")
    assert list(model.feature_names_in_) == ["size [cm]", "member"]


def test_a_column_of_weights(run, fails, frame, tmp_path):
    weights = np.arange(len(frame)) % 3
    frame.assign(w=weights).to_csv(tmp_path / "d.csv", index=False)
    options = ("--target", "group", "--no-cv", "-o", tmp_path / "m.lann")
    printed = run("fit", tmp_path / "d.csv", "--sample-weight", "w", *options)
    assert "27 rows have the weight 0 and are left out" in printed
    model = lann.load(tmp_path / "m.lann")
    assert "w" not in model.feature_names_in_
    np.testing.assert_array_equal(model.model_.row_weights, weights[weights > 0])
    assert "no column 'z'" in fails("fit", tmp_path / "d.csv", "--sample-weight", "z", *options)


@pytest.mark.parametrize("end", ["csv", "parquet"])
def test_a_sample_of_the_rows_is_learned_from(end, run, frame, tmp_path):
    path, model = tmp_path / f"data.{end}", tmp_path / "m.lann"
    write_table(frame, path)
    printed = run("fit", path, "--target", "group", "--max-rows", 40, "--no-cv", "-o", model)
    assert f"Note: 40 of {len(frame)} rows are drawn at random" in printed
    assert "40 rows; " in printed
    fitted = TableModel.load(model)
    assert len(fitted.row_numbers) == 40
    again = run("fit", path, "--target", "group", "--max-rows", 40, "--no-cv", "-o", tmp_path / "again.lann")
    assert again.replace("again.lann", "m.lann") == printed
    assert np.array_equal(TableModel.load(tmp_path / "again.lann").row_numbers, fitted.row_numbers)
    assert "drawn" not in run("fit", path, "--target", "group", "--max-rows", 5000, "--no-cv", "-o", model)


def test_tables_that_do_not_fit_into_memory_are_sampled(run, fails, frame, tmp_path, monkeypatch):
    path, model = tmp_path / "data.parquet", tmp_path / "m.lann"
    write_table(pd.concat([frame] * 20), path)
    arguments = ("fit", path, "--target", "group", "--no-cv", "-o", model)
    monkeypatch.setattr(_reading, "FEWEST_ROWS", 100)
    assert "drawn" not in run(*arguments, "--memory", "5GB")
    printed = run(*arguments, "--memory", "55MB")
    assert "of memory, of which 55 MB may be taken: " in printed
    assert len(TableModel.load(model).row_numbers) < 20 * len(frame)
    # Without the option, the available memory counts; the note is one line.
    monkeypatch.setattr(_reading, "available_memory", lambda: 55_000_000)
    assert [line for line in printed.splitlines() if "drawn" in line] == [
        line for line in run(*arguments).splitlines() if "drawn" in line
    ]
    assert fails(*arguments, "--memory", "much") == (
        "A memory must be a size such as 2GB or 500MB; got 'much'."
    )

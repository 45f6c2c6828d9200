from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import lann


def test_accuracies_are_printed_and_the_pipeline_is_saved(run, csv, frame, tmp_path):
    printed = run("fit", csv, "--target", "group", "--id", "name", "--folds", 3, "-o", tmp_path / "m.lann")
    assert "80 rows; 2 numeric and 2 text columns" in printed
    assert "2 classes of group: " in printed
    assert "3-fold cross-validation" in printed
    assert printed.count("±") == 2
    assert "Note: Column 'empty' is ignored: it is empty." in printed
    model = lann.load(tmp_path / "m.lann")
    rows = frame.assign(member=frame["member"].map(str))
    assert list(model.feature_names_in_) == ["size [cm]", "noise", "color", "member"]
    assert np.mean(model.predict(rows) == frame["group"]) > 0.9


@pytest.mark.parametrize("format", [".csv.gz", ".parquet"])
def test_every_file_format_gives_the_same_model(format, run, csv, frame, tmp_path):
    path = tmp_path / f"data{format}"
    frame.to_parquet(path) if format == ".parquet" else frame.to_csv(path, index=False)
    rows = frame.assign(member=frame["member"].map(str))

    def probabilities(data):
        run("fit", data, "--target", "group", "--no-cv", "-o", tmp_path / "m.lann")
        return lann.load(tmp_path / "m.lann").predict_proba(rows)

    np.testing.assert_array_equal(probabilities(path), probabilities(csv))


def test_options_are_those_of_the_model(run, csv, tmp_path):
    options = "--neighbors 3 --jobs 1 --seed 7 --no-cv --drop noise --drop color --metric low_rank --balanced"
    run("fit", csv, "--target", "group", *options.split(), "-o", tmp_path / "m.lann")
    model = lann.load(tmp_path / "m.lann")
    classifier = model[-1]
    assert (classifier.n_neighbors, classifier.n_jobs, classifier.random_state) == (3, 1, 7)
    assert (classifier.metric, classifier.class_weight) == ("low_rank", "balanced")
    assert list(model.feature_names_in_) == ["size [cm]", "member"]


def test_the_balanced_accuracy_is_printed_if_the_classes_have_different_sizes(run, frame, csv, tmp_path):
    options = ("--target", "group", "--drop", "name", "--folds", 3, "-o", tmp_path / "m.lann")
    assert "balanced accuracy" not in run("fit", csv, *options)
    frame = pd.concat([frame[frame["group"] != frame["group"].iloc[0]]] * 4 + [frame])
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", *options)
    assert "balanced accuracy" in printed
    assert printed.count("±") == 4


def test_small_classes_reduce_the_folds(run, frame, tmp_path):
    frame.loc[:2, "group"] = "rare"
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", "--target", "group", "-o", tmp_path / "m.lann")
    assert "There are 3 folds, as the smallest class has 3 rows" in printed
    assert "3-fold cross-validation" in printed
    frame.loc[1:2, "group"] = "in"
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", "--target", "group", "-o", tmp_path / "m.lann")
    assert "There is no cross-validation, as class 'rare' has one row only" in printed


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, "--target y", "There is no file"),
        ("a,y\n", "--target y", "has no rows"),
        ("a,y\n1,u\n2,v\n", "--target z", "no column 'z' in data.csv for target; its columns are 'a', 'y'"),
        ("a,y\n1,u\n1,v\n", "--target y", "no column to learn from in data.csv"),
        ("a,y\n1,u\n2,v\n", "--target y --neighbors 5", "--neighbors 5 is more than the 2 rows"),
        ("a,y\n1,u\n2,v\n3,u\n4,v\n", "--target y --neighbors 3", "more than the 2 rows that each fold"),
    ],
)
def test_invalid_data(content, options, message, fails, tmp_path):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_text(content)
    assert message in fails("fit", path, *options.split(), "-o", tmp_path / "m.lann")
    assert not (tmp_path / "m.lann").exists()


def test_the_folder_of_the_model_is_checked_first(fails, tmp_path):
    assert "no folder" in fails("fit", "none.csv", "--target", "y", "-o", tmp_path / "none" / "m.lann")


def test_a_failed_write_leaves_the_old_model(fails, csv, tmp_path, monkeypatch):
    path = tmp_path / "m.lann"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(os, "replace", full)
    assert "No space left on device" in fails("fit", csv, "--target", "group", "--no-cv", "-o", path)
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "m.lann"]


def test_a_column_of_weights(run, fails, frame, tmp_path):
    weights = np.arange(len(frame)) % 3
    frame.assign(w=weights).to_csv(tmp_path / "d.csv", index=False)
    options = ("--target", "group", "--no-cv", "-o", tmp_path / "m.lann")
    printed = run("fit", tmp_path / "d.csv", "--sample-weight", "w", *options)
    assert "27 rows have the weight 0 and are left out" in printed
    model = lann.load(tmp_path / "m.lann")
    assert "w" not in model.feature_names_in_
    np.testing.assert_array_equal(model[-1].model_.row_weights, weights[weights > 0])
    assert "no column 'z'" in fails("fit", tmp_path / "d.csv", "--sample-weight", "z", *options)

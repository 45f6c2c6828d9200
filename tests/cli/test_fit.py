from __future__ import annotations

import os

import numpy as np
import pandas as pd
import pytest

import lann


def test_fit_prints_accuracies_and_saves_the_whole_pipeline(run, csv, frame, tmp_path):
    printed = run("fit", csv, "--target", "group", "--id", "name", "--folds", 3, "-o", tmp_path / "m.skops")
    assert "80 rows; 2 numeric and 2 text columns" in printed
    assert "3-fold cross-validation" in printed
    assert printed.count("±") == 2
    assert "'empty' is ignored: empty" in printed
    assert "'constant' is ignored: the same in every row" in printed
    model = lann.load(tmp_path / "m.skops")
    rows = frame.assign(member=frame["member"].map(str))
    assert list(model.feature_names_in_) == ["size [cm]", "noise", "color", "member"]
    assert np.mean(model.predict(rows) == frame["group"]) > 0.9


@pytest.mark.parametrize("kind", [".csv", ".csv.gz", ".parquet"])
def test_every_kind_of_file_gives_the_same_model(kind, run, frame, tmp_path):
    path = tmp_path / f"data{kind}"
    frame.to_parquet(path) if kind == ".parquet" else frame.to_csv(path, index=False)
    run("fit", path, "--target", "group", "--drop", "name", "--no-cv", "-o", tmp_path / "m.skops")
    rows = frame.assign(member=frame["member"].map(str))
    predicted = lann.load(tmp_path / "m.skops").predict_proba(rows)
    frame.to_csv(tmp_path / "plain.csv", index=False)
    run("fit", tmp_path / "plain.csv", "--target", "group", "--no-cv", "-o", tmp_path / "p.skops")
    np.testing.assert_array_equal(predicted, lann.load(tmp_path / "p.skops").predict_proba(rows))


def test_options_reach_the_model(run, csv, tmp_path):
    options = "--neighbors 3 --jobs 1 --seed 7 --no-cv --drop noise --drop color --metric low_rank --balanced"
    run("fit", csv, "--target", "group", *options.split(), "-o", tmp_path / "m.skops")
    model = lann.load(tmp_path / "m.skops")
    classifier = model[-1]
    assert (classifier.n_neighbors, classifier.n_jobs, classifier.random_state) == (3, 1, 7)
    assert (classifier.metric, classifier.class_weight) == ("low_rank", "balanced")
    assert list(model.feature_names_in_) == ["size [cm]", "member"]


def test_a_column_that_names_the_rows_is_ignored_with_a_note(run, csv, tmp_path):
    printed = run("fit", csv, "--target", "group", "--no-cv", "-o", tmp_path / "m.skops")
    assert "'name' is ignored: text that differs in most rows (80 values)" in printed


def test_rows_without_target_are_left_out_with_a_note(run, frame, tmp_path):
    frame.loc[[0, 9], "group"] = np.nan
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", "--target", "group", "--no-cv", "-o", tmp_path / "m.skops")
    assert "2 rows have no 'group' and are left out" in printed
    assert "78 rows" in printed


def test_where_classes_are_of_unlike_size_the_balanced_accuracy_is_shown(run, frame, csv, tmp_path):
    options = ("--target", "group", "--drop", "name", "--folds", 3, "-o", tmp_path / "m.skops")
    assert "balanced" not in run("fit", csv, *options)
    frame = pd.concat([frame[frame["group"] != frame["group"].iloc[0]]] * 4 + [frame])
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", *options)
    assert "balanced" in printed
    assert printed.count("±") == 4


def test_small_classes_reduce_the_folds(run, frame, tmp_path):
    frame.loc[:2, "group"] = "rare"
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", "--target", "group", "-o", tmp_path / "m.skops")
    assert "3 folds, as the smallest class has 3 rows" in printed
    frame.loc[1:2, "group"] = "in"
    frame.to_csv(tmp_path / "d.csv", index=False)
    printed = run("fit", tmp_path / "d.csv", "--target", "group", "-o", tmp_path / "m.skops")
    assert "No cross-validation, as class 'rare' has one row only" in printed


def test_numbers_as_labels_stay_numbers(run, frame, tmp_path):
    frame["group"] = np.where(frame["group"] == "in", 10, 9)
    frame.to_csv(tmp_path / "d.csv", index=False)
    run("fit", tmp_path / "d.csv", "--target", "group", "--no-cv", "-o", tmp_path / "m.skops")
    assert lann.load(tmp_path / "m.skops").classes_.tolist() == [9, 10]


def test_many_categories_share_a_column(run, frame, tmp_path):
    frame["town"] = [f"t{row % 39}" for row in range(80)]
    big = pd.concat([frame, frame.assign(town=[f"u{row % 39}" for row in range(80)])])
    big.to_csv(tmp_path / "d.csv", index=False)
    run(
        "fit",
        tmp_path / "d.csv",
        "--target",
        "group",
        "--drop",
        "name",
        "--no-cv",
        "-o",
        tmp_path / "m.skops",
    )
    assert lann.load(tmp_path / "m.skops")[-1].n_features_in_ == 2 + 3 + 2 + 50


@pytest.mark.parametrize(
    ("content", "options", "message"),
    [
        (None, "--target y", "There is no file"),
        ("", "--target y", "is empty"),
        ("a,y\n", "--target y", "has no rows"),
        ("a,y\n1,u\n2,v\n", "--target z", "no column 'z' for --target; its columns are 'a', 'y'"),
        ("a,y\n1,u\n2,v\n", "--target y --id z", "no column 'z' for --id"),
        ("a,y\n1,u\n2,v\n", "--target y --drop z", "no column 'z' for --drop"),
        ("a,y\n1,u\n2,u\n", "--target y", "one class only, 'u'"),
        ("a,y\n1,\n2,\n", "--target y", "is empty in every row"),
        ("a,y\n1,0.5\n2,0.7\n3,0.9\n", "--target y", "3 different values in 3 rows"),
        ("a,y\n1,u\n1,v\n", "--target y", "no column to learn from"),
        ("a,y\n1,u\n2,v\n", "--target y", "--neighbors 5 is more than the 2 rows"),
        ("a,y\n1,u\n2,v\n3,u\n4,v\n", "--target y --neighbors 3", "more than the 2 rows that each fold"),
        ("a,y\n1,u\ninf,v\n", "--target y --neighbors 1", "'a' of data.csv must hold finite numbers; row 1"),
        ("a,y\n1,u\n2,v,5,6\n", "--target y", "not comma-separated text: Expected 2 fields in line 3"),
        ("a,y\n1,u,3\n2,v,3\n", "--target y", "more cells than the header"),
        ("a\xff,y\n", "--target y", "not text in UTF-8"),
    ],
)  # fmt: skip
def test_wrong_data_is_one_sentence(content, options, message, fails, tmp_path):
    path = tmp_path / "data.csv"
    if content is not None:
        path.write_bytes(content.encode("latin-1"))
    assert message in fails("fit", path, *options.split(), "-o", tmp_path / "m.skops")
    assert not (tmp_path / "m.skops").exists()


def test_wrong_files_are_one_sentence(fails, csv, tmp_path):
    (tmp_path / "data.xlsx").write_bytes(b"x")
    (tmp_path / "data.parquet").write_bytes(b"x")
    (tmp_path / "data.csv.gz").write_bytes(b"x")
    assert "unknown kind" in fails("fit", tmp_path / "data.xlsx", "--target", "group")
    assert "not a whole Parquet file" in fails("fit", tmp_path / "data.parquet", "--target", "group")
    assert "damaged" in fails("fit", tmp_path / "data.csv.gz", "--target", "group")
    (tmp_path / "folder.csv").mkdir()
    assert "is a folder" in fails("fit", tmp_path / "folder.csv", "--target", "group")
    assert "no folder" in fails("fit", csv, "--target", "group", "-o", tmp_path / "none" / "m.skops")


def test_a_failed_write_leaves_the_old_model(fails, csv, tmp_path, monkeypatch):
    path = tmp_path / "m.skops"
    path.write_bytes(b"old")

    def full(*args):
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(os, "replace", full)
    assert "No space left on device" in fails("fit", csv, "--target", "group", "--no-cv", "-o", path)
    assert path.read_bytes() == b"old"
    assert sorted(os.listdir(tmp_path)) == ["data.csv", "m.skops"]

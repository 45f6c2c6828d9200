"""`lann stream`: predictions, checkpoints, interruptions and output."""

import json
import os
import signal
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

PROGRAM = "from lann.cli import main; main()"


@pytest.fixture(scope="module")
def rows():
    """A stream whose classes swap in the middle."""
    rng = np.random.default_rng(1)
    X = rng.uniform(size=(1500, 2)).round(4)
    y = np.where((X[:, 0] > 0.5) == (np.arange(1500) < 700), "up", "down")
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "y": y})


@pytest.fixture
def data(rows, tmp_path):
    rows.to_csv(tmp_path / "s.csv", index=False)
    return tmp_path / "s.csv"


@pytest.fixture
def child(tmp_path):
    """Return a function that starts a command in a process of its own, with pipes."""
    started = []

    def start(*arguments):
        process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "COLUMNS": "100"},
        )
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.communicate()


OPTIONS = ("--model", "samknn", "--window", "300")


def feed_until_checkpoint(process, text):
    """Give rows to a process, and wait for its first checkpoint; it then waits for further rows."""
    process.stdin.write(text)
    process.stdin.flush()
    for line in process.stdout:
        if line.startswith("Checkpoint after"):
            return line
    raise AssertionError(process.stderr.read())


def test_json_has_the_scores_and_the_curve(run, data, tmp_path):
    output, picture = tmp_path / "p.csv", tmp_path / "p.png"
    shown = run("stream", data, "-t", "y", *OPTIONS, "-o", output, "--picture", picture, "--json")
    document = json.loads(shown)
    predictions = pd.read_csv(output, keep_default_na=False)
    correct = (predictions["label"] == predictions["prediction"]).mean()
    assert document["scores"]["accuracy"] == correct > 0.8
    assert document["n_rows"] == 1500
    assert document["curve"]["rows"][-1] == 1500
    assert document["n_memory_resets"] == predictions["memory_reset"].sum() > 0
    alarms = predictions.index[predictions["alarm"] == 1].tolist()
    assert alarms == [alarm["row"] for alarm in document["alarms"]]
    assert [700 <= row < 740 for row in alarms] == [True]
    assert document["files"] == [str(output), str(picture)]
    assert document["interrupted"] is False
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_killed_run_continues_with_the_same_predictions(run, rows, data, child, tmp_path):
    whole, part = tmp_path / "whole.csv", tmp_path / "part.csv"
    expected = json.loads(run("stream", data, "-t", "y", *OPTIONS, "-o", whole, "--json"))
    checkpoint = ("--checkpoint", tmp_path / "c.lann", "--every", 300)
    process = child("stream", "-", "-t", "y", *OPTIONS, *checkpoint, "-o", part)
    # It learns some rows after the checkpoint and waits for more when it is killed.
    feed_until_checkpoint(process, rows[:1250].to_csv(index=False))
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert whole.read_bytes() != part.read_bytes()
    found = json.loads(run("stream", data, *checkpoint, "--resume", "-o", part, "--json"))
    assert part.read_bytes() == whole.read_bytes()
    for name in ("scores", "last_rows", "alarms", "memory_resets", "curve", "n_rows"):
        assert found[name] == expected[name]


def test_ctrl_c_saves_the_checkpoint_and_the_picture(run, rows, data, child, tmp_path):
    whole, part = tmp_path / "whole.csv", tmp_path / "part.csv"
    run("stream", data, "-t", "y", *OPTIONS, "-o", whole)
    checkpoint, picture = tmp_path / "c.lann", tmp_path / "p.svg"
    process = child(
        "stream", "-", "-t", "y", *OPTIONS, "--checkpoint", checkpoint, "--every", 1000, "-o", part,
        "--picture", picture,
    )  # fmt: skip
    feed_until_checkpoint(process, rows[:1250].to_csv(index=False))
    process.send_signal(signal.SIGINT)
    shown, errors = process.communicate()
    assert process.returncode == 130, errors
    assert "The same command with --resume continues." in shown
    assert b"<svg" in picture.read_bytes()
    run("stream", data, "--checkpoint", checkpoint, "--resume", "-o", part)
    assert part.read_bytes() == whole.read_bytes()


def test_a_stream_without_any_label_has_no_scores(run, rows, tmp_path):
    rows[:300].assign(y=None).to_csv(tmp_path / "none.csv", index=False)
    picture, checkpoint = tmp_path / "p.png", tmp_path / "c.lann"
    arguments = ("stream", tmp_path / "none.csv", "-t", "y", *OPTIONS, "--picture", picture)
    shown = run(*arguments)
    expected = "None of 300 rows has a label; there are no scores and no picture."
    assert f"Note: {expected}" in shown
    assert "0.0%" not in shown
    assert "0.000" not in shown
    document = json.loads(run(*arguments, "--json", "--checkpoint", checkpoint))
    for scores in (document["scores"], document["last_rows"]):
        assert scores.pop("n_rows") == 0
        assert set(scores.values()) == {None}
    assert expected in document["notes"]
    assert document["files"] == []
    assert not picture.exists()
    assert not checkpoint.exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "Name the column with the labels: --target COLUMN."),
        (("--resume",), "--resume needs the checkpoint: --checkpoint FILE."),
        (("-t", "z"), "There is no column 'z'"),
        (("-t", "y", "-o", "p.txt"), "--output must be a .csv file; got p.txt."),
        (("-t", "y", "--picture", "p.gif"), "--picture must be a .png, .pdf or .svg file; got p.gif."),
        (("-t", "y", "-o", "missing/p.csv"), "There is no folder missing"),
        (("-t", "y", "--window", 1, "--model", "samknn"), "window_size must be"),
    ],
)
def test_wrong_input_is_one_sentence(fails, data, arguments, message):
    assert fails("stream", data, *arguments).startswith(message)

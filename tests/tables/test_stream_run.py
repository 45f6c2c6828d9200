import numpy as np
import pandas as pd
import pytest

from lann import load
from lann.streams import SAMKNN, SAMLANN, prequential
from lann.tables import StreamRun


@pytest.fixture(scope="module")
def frame():
    """A stream with a drift in the middle, a category and a column without influence."""
    rng = np.random.default_rng(0)
    X = rng.uniform(size=(2600, 2)).round(4)
    color = rng.choice(["red", "blue"], 2600)
    sign = np.where(np.arange(2600) < 1300, 1, -1)
    y = np.where(sign * (X[:, 0] + 0.3 * (color == "red") - 0.6) > 0, "yes", "no")
    return pd.DataFrame({"u": X[:, 0], "v": X[:, 1], "color": color, "y": y})


@pytest.fixture
def path(frame, tmp_path):
    frame.to_csv(tmp_path / "s.csv", index=False)
    return tmp_path / "s.csv"


def make():
    return SAMKNN(window_size=300, random_state=0)


def state(run):
    return run.evaluation.to_dict(), run.n_read, run.n_unlabeled


def test_a_run_is_the_evaluation_of_its_numbers(path, frame, tmp_path):
    with StreamRun(path, "y", make(), output=tmp_path / "p.csv") as run:
        run.run()
    color = np.column_stack([frame["color"] == "blue", frame["color"] == "red", np.zeros(2600)]) * np.sqrt(
        0.5
    )
    X = np.column_stack([frame[["u", "v"]], color])
    expected = prequential(make(), X, frame["y"].to_numpy(str))
    assert run.evaluation.to_dict() == expected.to_dict()
    assert run.evaluation.scores.accuracy > 0.8
    assert run.evaluation.n_resets > 0
    assert run.estimator.alarms_ == list(run.evaluation.alarms)
    assert run.evaluation.n_alarms > 0
    predictions = pd.read_csv(tmp_path / "p.csv", keep_default_na=False)
    assert predictions["row"].tolist() == list(range(2600))
    assert predictions["label"].tolist() == frame["y"].tolist()
    assert predictions["prediction"][0] == ""
    correct = predictions["label"] == predictions["prediction"]
    assert predictions["correct"].tolist() == correct.astype(int).tolist()
    assert correct.mean() == run.evaluation.scores.accuracy
    assert predictions.index[predictions["memory_reset"] == 1].tolist() == list(run.evaluation.resets)
    alarms = [alarm.row for alarm in run.evaluation.alarms]
    assert predictions.index[predictions["alarm"] == 1].tolist() == alarms


def test_parquet_gives_the_same(path, frame, tmp_path):
    pytest.importorskip("pyarrow")
    frame.to_parquet(tmp_path / "s.parquet")
    runs = []
    for file in (path, tmp_path / "s.parquet"):
        with StreamRun(file, "y", make()) as run:
            run.run()
        runs.append(state(run))
    assert runs[0] == runs[1]


@pytest.mark.parametrize("stop_after", [130, 1000, 2599])
def test_a_resumed_run_is_the_uninterrupted_one(path, tmp_path, monkeypatch, stop_after):
    monkeypatch.setattr("lann.tables._stream_run.BATCH_ROWS", 60)
    with StreamRun(path, "y", make(), output=tmp_path / "whole.csv") as whole:
        whole.run(checkpoint=tmp_path / "whole.lann")
    with StreamRun(path, "y", make(), output=tmp_path / "part.csv") as first:
        for batch in first.batches():
            if batch.first_row >= stop_after:
                break
            if batch.first_row + len(batch.labels) == first.evaluation.n_rows:
                first.save(tmp_path / "part.lann")
        n_read = first.n_read
    assert n_read <= 2600
    with StreamRun(path, checkpoint=tmp_path / "part.lann", output=tmp_path / "part.csv") as second:
        assert 0 < second.n_read <= n_read
        second.run(checkpoint=tmp_path / "part.lann")
    assert state(second) == state(whole)
    assert (tmp_path / "part.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
    assert (tmp_path / "part.lann").read_bytes() == (tmp_path / "whole.lann").read_bytes()


def test_a_checkpoint_is_a_model(path, tmp_path):
    with StreamRun(path, "y", make()) as run:
        run.run(checkpoint=tmp_path / "c.lann", every=1000)
    rows = run.columns.rows(pd.DataFrame({"u": [0.1, 0.9], "v": [0.5, 0.5], "color": ["red", "blue"]}), 0)
    np.testing.assert_array_equal(load(tmp_path / "c.lann").predict(rows), run.estimator.predict(rows))


def test_checkpoints_are_saved_as_often_as_wanted(path, tmp_path):
    rows = []
    with StreamRun(path, "y", make()) as run:
        run.run(checkpoint=tmp_path / "c.lann", every=1000, on_checkpoint=lambda: rows.append(run.n_read))
    assert rows == [1000, 2000, 2600]


@pytest.mark.parametrize(("every", "expected"), [(100, [100, 200, 250]), (150, [150, 250]), (300, [250])])
def test_batches_are_not_larger_than_wanted(frame, tmp_path, every, expected):
    frame[:250].to_csv(tmp_path / "s.csv", index=False)
    rows = []
    with StreamRun(tmp_path / "s.csv", "y", make()) as run:
        run.run(checkpoint=tmp_path / "c.lann", every=every, on_checkpoint=lambda: rows.append(run.n_read))
    assert rows == expected
    with StreamRun(tmp_path / "s.csv", "y", make()) as whole:
        whole.run()
    assert state(run) == state(whole)


def test_a_longer_table_continues(path, frame, tmp_path):
    with StreamRun(path, "y", make()) as whole:
        whole.run()
    frame[:1500].to_csv(tmp_path / "short.csv", index=False)
    with StreamRun(tmp_path / "short.csv", "y", make()) as run:
        run.run(checkpoint=tmp_path / "c.lann")
    with StreamRun(path, checkpoint=tmp_path / "c.lann") as run:
        run.run()
    assert state(run) == state(whole)


def test_rows_without_a_label_are_left_out(frame, tmp_path):
    frame = frame[:1200].copy()
    frame.loc[[3, 500, 1100], "y"] = None
    frame.to_csv(tmp_path / "gaps.csv", index=False)
    frame.dropna().to_csv(tmp_path / "rest.csv", index=False)
    with StreamRun(tmp_path / "gaps.csv", "y", make(), output=tmp_path / "p.csv") as run:
        run.run()
    with StreamRun(tmp_path / "rest.csv", "y", make()) as rest:
        rest.run()
    assert run.evaluation.scores == rest.evaluation.scores
    assert (run.n_read, run.n_unlabeled) == (1200, 3)
    numbers = pd.read_csv(tmp_path / "p.csv")["row"]
    assert numbers.tolist() == [row for row in range(1200) if row not in (3, 500, 1100)]


def test_a_stop_waits_for_the_batch(path, tmp_path):
    with StreamRun(path, "y", make()) as run:
        with pytest.raises(KeyboardInterrupt):
            run.run(on_batch=lambda batch: run.stop())
        assert run.n_read == run.evaluation.n_rows == 1000
        assert not run.is_busy
        run.save(tmp_path / "c.lann")


def test_no_checkpoint_of_a_part_of_a_batch(path, tmp_path, monkeypatch):
    with StreamRun(path, "y", make()) as run:
        update = run.evaluation.update

        def interrupt_second(*values, **named):
            if run.evaluation.n_rows:
                raise KeyboardInterrupt  # as by a second Ctrl-C
            update(*values, **named)

        monkeypatch.setattr(run.evaluation, "update", interrupt_second)
        with pytest.raises(KeyboardInterrupt):
            run.run()
        assert run.estimator.n_seen_ > run.n_read == 0
        with pytest.raises(ValueError, match="or one was interrupted"):
            run.save(tmp_path / "c.lann")


def test_what_does_not_belong_together_gets_one_sentence(path, frame, tmp_path):
    checkpoint, output = tmp_path / "c.lann", tmp_path / "p.csv"
    with StreamRun(path, "y", make(), output=output) as run:
        with pytest.raises(ValueError, match="nothing to save"):
            run.save(checkpoint)
        run.run(checkpoint=checkpoint)
    with pytest.raises(ValueError, match="was started with a file for predictions"):
        StreamRun(path, checkpoint=checkpoint)
    output.write_text("row,label\n")
    with pytest.raises(ValueError, match="does not have the predictions that were there"):
        StreamRun(path, checkpoint=checkpoint, output=output)
    frame[:100].to_csv(tmp_path / "short.csv", index=False)
    with pytest.raises(ValueError, match=r"has 100 rows, but the checkpoint .* was made after 2600"):
        StreamRun(tmp_path / "short.csv", checkpoint=checkpoint, output=output)
    with pytest.raises(ValueError, match="Name the column with the labels"):
        StreamRun(path)


def test_a_model_without_progress_is_no_checkpoint(path, frame, tmp_path):
    from lann import save

    save(make().fit(frame[["u", "v"]], frame["y"]), tmp_path / "m.lann")
    with pytest.raises(ValueError, match="is not a checkpoint of a run over a stream"):
        StreamRun(path, checkpoint=tmp_path / "m.lann")


def test_another_file_is_not_cut_when_a_run_is_resumed(path, tmp_path):
    checkpoint, output = tmp_path / "c.lann", tmp_path / "p.csv"
    with StreamRun(path, "y", make(), output=output) as run:
        run.run(checkpoint=checkpoint)
    written = output.read_bytes()
    other = tmp_path / "other.csv"
    for content in (b"1\n" * len(written), written[:-1], b""):
        other.write_bytes(content)
        with pytest.raises(ValueError, match="does not have the predictions that were there"):
            StreamRun(path, checkpoint=checkpoint, output=other)
        assert other.read_bytes() == content
    other.write_bytes(written + b"what came after the checkpoint")
    with StreamRun(path, checkpoint=checkpoint, output=other) as run:
        run.run(checkpoint=checkpoint)
    assert other.read_bytes() == written


@pytest.mark.parametrize("change", [{"n_read": None}, {"columns": {}}, {"evaluation": {}}])
def test_a_damaged_checkpoint_gets_one_sentence(path, tmp_path, change):
    from lann.persist import read_model_file, save

    with StreamRun(path, "y", make()) as run:
        run.run(checkpoint=tmp_path / "c.lann")
    file = read_model_file(tmp_path / "c.lann")
    model, progress = file.model, file.progress
    save(model, tmp_path / "d.lann", progress=progress | change)
    with pytest.raises(ValueError, match=r"The checkpoint .* is damaged"):
        StreamRun(path, checkpoint=tmp_path / "d.lann")


def test_a_resumed_run_of_samlann_is_the_uninterrupted_one(frame, tmp_path):
    path, checkpoint = tmp_path / "s.csv", tmp_path / "c.lann"
    frame[1150:1450].to_csv(path, index=False)
    with StreamRun(path, "y", SAMLANN(window_size=100, random_state=0)) as whole:
        whole.run(every=100)
    with StreamRun(path, "y", SAMLANN(window_size=100, random_state=0)) as first:
        for batch in first.batches(100):
            if batch.first_row >= 100:
                break
        first.save(checkpoint)
    with StreamRun(path, checkpoint=checkpoint) as second:
        assert second.n_read == 200
        second.run()
    assert state(second) == state(whole)

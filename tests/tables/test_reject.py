"""Reject options of models of tables: thresholds from the held-out rows of the cross-validation."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from lann import LANNClassifier, load
from lann.reject import RejectOption
from lann.tables import TableModel, TrainingTable, cross_validate
from tests.persist.conftest import Changes


@pytest.fixture(scope="module")
def frame():
    """Numbers, a category and gaps; a fifth of the labels near the boundary is wrong."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(360, 2)), columns=["a", "b"]).round(3)
    frame["shape"] = np.where(rng.random(360) < 0.5, "round", "flat")
    frame.loc[::11, "b"] = np.nan
    flipped = (frame["a"].abs() < 0.4) & (rng.random(360) < 0.4)
    frame["side"] = np.where((frame["a"] > 0) ^ flipped, "right", "left")
    return frame


@pytest.fixture(scope="module")
def fitted(frame):
    """The model, the folds and the table of the first 240 rows."""
    table, folds = TrainingTable.from_frame(frame[:240], "side"), []
    quick = LANNClassifier(max_iter=2, random_state=0)
    scores = cross_validate(table, quick, n_folds=3, folds=folds)
    return table.fit(quick, scores=scores, folds=folds), folds, table


@pytest.fixture(scope="module")
def model(fitted):
    return fitted[0]


def test_folds_have_the_classifiers_and_their_rows(fitted):
    _, folds, table = fitted
    assert len(folds) == 3
    tested = np.sort(np.concatenate([fold.test for fold in folds]))
    np.testing.assert_array_equal(tested, np.arange(len(table)))
    for fold in folds:
        assert not set(fold.train) & set(fold.test)
        assert len(fold.classifier.model_.X) == len(fold.train)


def test_option_is_that_of_the_folds(fitted, frame):
    model, folds, table = fitted
    test = frame[240:]
    expected = RejectOption.from_folds(
        model.classifier, table.rows, table.labels, folds, coverage=0.8, random_state=0
    )
    option = model.reject_option(coverage=0.8)
    assert option.thresholds_ == expected.thresholds_
    assert option.coverage_ == expected.coverage_ >= 0.8
    rows = test[["a", "b", "shape"]]
    np.testing.assert_array_equal(option.decision(rows), expected.decision(rows))
    assert option.estimator_ is model.classifier


def test_rows_that_are_rejected_are_wrong_more_often(model, frame):
    test = frame[240:]
    found = model.predict(test, reject=model.reject_option(coverage=0.8))
    assert found.columns.tolist()[:3] == ["label", "prediction", "decision"]
    accepted, wrong = found["decision"] == "accepted", found["label"] != found["prediction"]
    assert 0.6 < accepted.mean() < 0.95
    assert wrong[accepted].mean() < 0.5 * wrong[~accepted].mean()
    # The prediction of a rejected row remains.
    plain = model.predict(test)
    pd.testing.assert_frame_equal(found.drop(columns="decision"), plain)


def test_explanations_say_why(model, frame):
    test, option = frame[240:], model.reject_option(risk=0.02)
    explanation = model.explain(test, reject=option)
    decisions = model.predict(test, reject=option)["decision"].tolist()
    assert [decision.decision for decision in explanation.decisions] == decisions
    assert {"accepted", "ambiguous"} <= set(decisions)
    for text, decision in zip(explanation.in_words(), decisions, strict=True):
        assert text.startswith(f"Rejected: {decision}. ") == (decision != "accepted")
    blocks = list(model.explain_blocks(test, range(20), block_size=7, reject=option))
    assert [d.decision for block in blocks for d in block.decisions] == decisions[:20]


def test_held_out_rows_are_saved_with_the_model(model, frame, tmp_path):
    model.save(tmp_path / "model.lann")
    loaded = TableModel.load(tmp_path / "model.lann")
    for target in ({}, {"cost": 0.05}, {"coverage": 0.7}, {"risk": 0.01}):
        one, other = (m.predict(frame, reject=m.reject_option(**target)) for m in (loaded, model))
        pd.testing.assert_frame_equal(one, other)
    assert type(load(tmp_path / "model.lann")).__name__ == "LANNClassifier"


def test_models_without_held_out_rows_say_how_to_get_them(fitted):
    _, _, table = fitted
    model = table.fit(LANNClassifier(max_iter=1, random_state=0))
    with pytest.raises(ValueError, match=r"no held-out rows.*fit it again by `lann fit`"):
        model.reject_option()
    with pytest.raises(ValueError, match="no held-out rows"):
        TableModel(model.classifier).reject_option(coverage=0.9)


def test_rows_without_any_value_are_not_held_out():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    frame["y"] = np.where(frame["a"] > 0, "yes", "no")
    frame.loc[7, ["a", "b"]] = np.nan
    table, folds = TrainingTable.from_frame(frame, "y"), []
    cross_validate(table, LANNClassifier(max_iter=1, random_state=0), n_folds=2, folds=folds)
    tested = np.concatenate([fold.test for fold in folds])
    assert 7 not in tested
    assert len(tested) == 59


# Hostile files


def edited(path, edit):
    """Edit what a file says about its table."""
    changed = Changes(path)
    edit(changed.described, changed.entries)
    return changed.write()


def without_spacing(described, entries):
    described["table"]["reject"]["spacing"] = None
    del entries["table/reject/spacing.npy"]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (without_spacing, "there are distances between training rows that are not needed, or none"),
        (lambda described, _: described["table"]["reject"].pop("held_out_"), "a record with the fields"),
    ],
)
def test_files_with_incomplete_held_out_rows_raise(model, tmp_path, edit, message):
    model.save(tmp_path / "model.lann")
    with pytest.raises(ValueError, match=message):
        load(edited(tmp_path / "model.lann", edit))


def test_files_of_other_models_have_no_held_out_rows(model, tmp_path):
    from lann.embedding import DiscriminantPlane
    from lann.persist import save

    rng = np.random.default_rng(0)
    plane = DiscriminantPlane().fit(rng.normal(size=(60, 4)), np.arange(60) % 3)
    message = "its table has held-out rows, but its model is no classifier with neighbors"
    with pytest.raises(ValueError, match=message):
        save(plane, tmp_path / "plane.lann", table=model.record)
    save(plane, tmp_path / "plane.lann", table=replace(model.record, reject=None))

    def add(described, _):
        described["table"]["reject"] = {}

    with pytest.raises(ValueError, match=message):
        load(edited(tmp_path / "plane.lann", add))

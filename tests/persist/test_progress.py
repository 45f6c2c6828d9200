"""What checkpoints have beside the model: how far a run over a stream has come."""

import math

import pytest

from lann import save
from lann.persist import read_model_file

PROGRESS = {
    "n_rows": 2**62,
    "accuracy": 0.1 + 0.2,
    "tiny": 5e-324,
    "names": ["größe", None, True],
    "counts": [[1, 2], [3, 4]],
}


def test_progress_comes_back_to_the_bit(classifier, data, tmp_path):
    save(classifier, tmp_path / "model.lann", progress=PROGRESS)
    file = read_model_file(tmp_path / "model.lann")
    assert file.progress == PROGRESS
    assert (file.model.predict(data[0]) == classifier.predict(data[0])).all()


def test_a_model_without_progress_has_none(classifier, saved):
    assert read_model_file(saved).progress is None
    content = saved.read_bytes()
    save(classifier, saved, progress=None)
    assert saved.read_bytes() == content


@pytest.mark.parametrize("progress", [{"a": math.nan}, {"a": object()}, [1]])
def test_what_json_cannot_express_is_not_saved(classifier, saved, progress):
    content = saved.read_bytes()
    with pytest.raises(ValueError, match="The model cannot be saved"):
        save(classifier, saved, progress=progress)
    assert saved.read_bytes() == content


@pytest.mark.parametrize("progress", [1, [{"a": 1}]])
def test_progress_of_another_type_is_not_loaded(saved, changes, load_fails, progress):
    changed = changes(saved)
    changed.described["progress"] = progress
    load_fails(changed.write(), "its progress has to be a dictionary")

"""Hostile model files are rejected or harmless: a short slice of the part "model-files"."""

from collections import Counter

import numpy as np
import pytest

from lann import LANNClassifier, save
from lann.embedding import DiscriminantPlane
from tests.fuzz.inputs.subjects import honest_rows
from tests.fuzz.model_files.mutations import MUTATIONS, mutate
from tests.fuzz.model_files.part import try_content
from tests.fuzz.model_files.shards import CHANGES, change_folder, honest_folder
from tests.fuzz.model_files.special import list_cases, special_file
from tests.fuzz.outcomes import REJECTED, RIGHT, WRONG


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest") / "m.lann"
    contents = []
    for estimator in (LANNClassifier(max_iter=2, random_state=0), DiscriminantPlane()):
        save(estimator.fit(*honest_rows()), path)
        contents.append(path.read_bytes())
    return contents


def test_changed_files_are_rejected_or_harmless(run_harness):
    """Honest files are used first, those of every kind and a folder of shards."""
    counts = run_harness("model-files", n_cases=3 * len(MUTATIONS))
    assert counts["rejected"] > 40
    assert counts["right"] > 8


def test_special_values_are_rejected_or_harmless(files, tmp_path):
    """Every array of two files; the part "special-values" has all of them."""
    cases = list_cases(files)
    assert len(cases) > 1000
    kinds = Counter()
    for number, case in enumerate(cases[::13]):
        content = special_file(files[case.file], case, np.random.default_rng(number))
        outcome = try_content("special value", content, tmp_path / "m.lann")
        assert outcome.kind in (RIGHT, REJECTED), f"{case}: {outcome}"
        kinds[outcome.kind] += 1
    assert min(kinds[RIGHT], kinds[REJECTED]) > 20


def test_the_seed_determines_the_changes(files):
    for number in range(len(MUTATIONS)):
        assert mutate(files, 3, number) == mutate(files, 3, number)
    assert mutate(files, 3, 0) != mutate(files, 4, 0)


def test_the_seed_determines_the_changes_of_folders(tmp_path):
    folder = honest_folder(tmp_path)
    assert {"shard-00000.lann", "shard-00001.lann", "shards.json", "shared.lann"} <= set(folder)
    changed = [change_folder(folder, 3, number) for number in range(40)]
    assert changed == [change_folder(folder, 3, number) for number in range(40)]
    assert {name for name, _ in changed} == {f"shards: {change.__name__}" for change in CHANGES}


def test_what_must_not_happen_is_noticed(files, tmp_path, monkeypatch):
    path = tmp_path / "m.lann"
    assert try_content("honest", files[0], path).kind == RIGHT
    monkeypatch.setattr(LANNClassifier, "predict_proba", lambda self, X: [[float("nan")] * 3] * len(X))
    assert try_content("NaN", files[0], path).kind == WRONG
    monkeypatch.setattr(LANNClassifier, "predict_proba", lambda self, X: self.with_vote(1))
    assert try_content("raises at use", files[0], path).kind == WRONG

from __future__ import annotations

import hashlib

import numpy as np

import lann
from lann.baselines import GMLVQ


def facts_of(printed: str) -> dict[str, str]:
    """Return the lines "name: text" that come before the table of columns."""
    lines = [line.partition(":") for line in printed.splitlines() if ":" in line and line[0] not in "┃│"]
    return {name: text.strip() for name, _, text in lines}


def line_of(printed: str, name: str) -> list[str]:
    line = next(line for line in printed.splitlines() if line.startswith(f"│ {name} "))
    return [cell.strip() for cell in line.strip("│").split("│")]


def test_what_is_in_a_file(run, model):
    printed = run("info", model)
    facts = facts_of(printed)
    assert facts["SHA-256"] == hashlib.sha256(model.read_bytes()).hexdigest()
    assert facts["file"].endswith(f"{model.stat().st_size:,} bytes")
    assert facts["written by"] == f"lann {lann.__version__}, format 1"
    assert facts["estimator"] == "LANNClassifier"
    assert facts["parameters"] == "random_state=0"
    assert facts["training rows"] == "78"
    assert facts["target"] == "group"
    labels = lann.load(model).model_.labels
    assert facts["classes"] == f"2: in ({np.sum(labels == 0)}), out ({np.sum(labels == 1)})"
    assert facts["names of rows"] == "name"
    assert facts["not used"] == "empty (it is empty); constant (it has the same value in every row)"
    assert "cross-validation" not in facts  # the model was fitted with --no-cv
    assert "neighbors, power" in facts["vote"]


def test_columns_have_ranges_and_categories(run, model, frame):
    printed = run("info", model)
    used = frame.drop(index=[2, 3])
    size, counts = used["size [cm]"], used["color"].value_counts()
    assert line_of(printed, "size [cm]")[1:3] == ["number", f"{size.min()} to {size.max()}"]
    shown = ", ".join(f"{color} ({count})" for color, count in counts.items())
    assert line_of(printed, "color")[1:] == ["category", shown, "1.3%"]
    assert line_of(printed, "member")[1] == "true/false"
    assert "and 3 more columns: --columns 4" in run("info", model, "--columns", 1)


def test_other_models(run, iris, tmp_path):
    X, y = iris
    lann.save(GMLVQ(max_iter=5, random_state=0).fit(X, y), tmp_path / "m")
    facts = facts_of(run("info", tmp_path / "m"))
    assert facts["estimator"] == "GMLVQ"
    assert facts["classes"] == "3: 0, 1, 2"  # the training rows are not in the file
    assert "training rows" not in facts
    assert "x3" in run("info", tmp_path / "m")
    lann.save(lann.embedding.DiscriminantPlane().fit(X, y), tmp_path / "p")
    facts = facts_of(run("info", tmp_path / "p"))
    assert facts["estimator"] == "DiscriminantPlane"
    assert "classes" not in facts

"""The model of the explorer in a browser, compared with that of Python."""

from __future__ import annotations

import json

import numpy as np
import pytest

import lann
from tests.explorer.cases import CASES


def open_explorer(open_page, explorer, tmp_path, **options):
    """Save an explorer, and open it."""
    file = tmp_path / "explorer.html"
    explorer.save(file)
    page = open_page(file, **options)
    page.wait_for("document.documentElement.dataset.model === 'yes'")
    return page


def as_json(rows):
    return json.dumps([[None if value != value else value for value in row] for row in rows.tolist()])


ASK = """
(async () => {
  const [rows, exclude] = [%s, %s];
  const found = [];
  for (const [number, values] of rows.entries()) {
    const row = Float64Array.from(values, value => value ?? NaN);
    const answer = await lannExplorer.asker.ask("predict", {row, exclude: exclude[number]});
    const neighbors = Array.from(answer.rows).slice(0, 3);
    const parts = await lannExplorer.asker.ask("contributions", {row, neighbors});
    const plain = Object.entries(answer).map(([name, values]) => [name, Array.from(values)]);
    found.push({...Object.fromEntries(plain), contributions: parts.map(values => Array.from(values))});
  }
  return JSON.stringify(found);
})()
"""


@pytest.mark.parametrize("name", CASES)
def test_the_page_predicts_as_python_does(open_page, tmp_path, name):
    clf, queries = CASES[name]()
    model = clf.model_
    exclude = np.full(len(queries), -1)
    if model.has_training_rows:  # training rows, without their own votes
        own = np.linspace(0, model.n_rows - 1, 30).astype(int)
        queries, exclude = np.concatenate([queries, model.X[own]]), np.concatenate([exclude, own])
    explorer = lann.explore(clf, method="pca", n_reasons=0)
    page = open_explorer(open_page, explorer, tmp_path)
    found = json.loads(page.result_of(ASK % (as_json(queries), exclude.tolist())))
    assert len(found) == len(queries) >= 30
    for query, left_out, answer in zip(queries, exclude, found, strict=True):
        excluded = None if left_out < 0 else np.array([left_out])
        neighbors, distances = model.voters(query[None], exclude=excluded)
        shares, probabilities = model.vote(neighbors, distances)
        voted = shares[0] > 0
        assert np.array(answer["rows"])[: len(voted)][voted].tolist() == neighbors[0, voted].tolist()
        np.testing.assert_allclose(np.array(answer["distances"])[: len(voted)], distances[0], rtol=1e-9)
        np.testing.assert_allclose(answer["probabilities"], probabilities[0], atol=1e-9, rtol=0)
        parts = model.contributions(query[None], neighbors[:, :3])[0]
        np.testing.assert_allclose(answer["contributions"], parts, atol=1e-9 * max(1.0, np.abs(parts).max()))


def test_rows_of_large_tables_are_rounded_and_the_page_says_so(open_page, tmp_path, monkeypatch):
    monkeypatch.setattr("lann.explorer._document.MOST_DOUBLES", 100)
    monkeypatch.setattr("lann.explorer._document.LARGEST", 50)
    monkeypatch.setattr("lann.explorer._pack.MOST_DISTINCT", 50)
    clf, queries = CASES["numbers"]()
    explorer = lann.explore(clf, method="pca", n_reasons=0)
    assert "rounded" in explorer.notes[0]
    page = open_explorer(open_page, explorer, tmp_path)
    found = json.loads(page.result_of(ASK % (as_json(queries), [-1] * len(queries))))
    expected = clf.predict_proba(queries)
    np.testing.assert_allclose([answer["probabilities"] for answer in found], expected, atol=1e-4)


def test_the_page_computes_without_a_worker_where_they_are_forbidden(open_page, tmp_path):
    clf, queries = CASES["one vote"]()
    page = open_explorer(open_page, lann.explore(clf, method="pca", n_reasons=0), tmp_path)
    # A script that cannot run, as one that a policy forbids.
    page.evaluate("lannExplorer.asker = new lannExplorer.asker.constructor('}')")
    opened = """
      lannExplorer.asker.ask('open', {
        text: document.getElementById('model-data').textContent,
        columns: lannExplorer.rows.columns.map(column => column.values),
        labels: Uint16Array.from(lannExplorer.rows.labels),
      })
    """
    assert page.result_of(opened) is True
    assert page.evaluate("lannExplorer.asker.worker === null")
    found = json.loads(page.result_of(ASK % (as_json(queries[:5]), [-1] * 5)))
    expected = [clf.model_.vote(*clf.model_.voters(query[None])).probabilities[0] for query in queries[:5]]
    np.testing.assert_allclose([answer["probabilities"] for answer in found], expected, atol=1e-9)

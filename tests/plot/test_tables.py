"""Displays of models that were fitted to tables: categories, gaps, dates and ids."""

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_rgba

from lann import LANNClassifier
from lann.plot import (
    DecisionRegionsDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    SupportBeeswarmDisplay,
)


def texts_of(ax):
    return [text.get_text() for text in ax.texts]


def test_curves_and_positions(passengers, assert_legible):
    _, _, clf = passengers
    display = FeatureCurvesDisplay.from_estimator(clf)
    assert_legible(display.figure_)
    assert set(display.categories) == {0, 4}
    assert display.categories[4].names == ("Bern", "Graz", "Ulm", "missing")
    for panel in display.categories.values():
        assert (panel.heights.min(), panel.heights.max()) == (0.0, 1.0)
        np.testing.assert_allclose(panel.shares.sum(), 1.0)
    panels = dict(zip(display.shown_.tolist(), display.axes_, strict=True))
    assert [text.split(" ")[0] for text in sorted(texts_of(panels[0]))] == ["female", "male"]
    share = np.isnan(clf.model_.X[:, 2]).mean()
    assert texts_of(panels[2]) == [f"missing: {share:.0%}"]
    assert list(display.gaps) == [2]
    ticks = [text.get_text() for text in panels[1].get_xticklabels()]
    assert ticks == ["3rd", "2nd", "1st"]
    assert [text.get_text() for text in panels[5].get_xticklabels()] == ["False", "True"]
    assert all(text.get_text().startswith("1912-0") for text in panels[6].get_xticklabels())


def test_many_categories_with_long_names(assert_legible):
    rng = np.random.default_rng(0)
    city = rng.integers(0, 40, 300)
    frame = pd.DataFrame(
        {"city": [f"a town on the river number {c}" for c in city], "x": rng.normal(size=300)}
    )
    clf = LANNClassifier(random_state=0, max_iter=1).fit(frame, city % 2)
    display = FeatureCurvesDisplay.from_estimator(clf)
    assert_legible(display.figure_)
    panel = display.axes_[display.shown_.tolist().index(0)]
    assert "and 33 more" in texts_of(panel)
    named = [text for text in panel.texts if text.get_text() != "and 33 more"]
    assert len(named) == 7
    levels = sorted(text.get_position()[1] for text in named)
    assert np.diff(levels).min() > 0.1
    assert all("…" in text.get_text() for text in named)


def test_beeswarm_of_categories_and_gaps(passengers, assert_legible):
    frame, _, clf = passengers
    display = SupportBeeswarmDisplay.from_estimator(clf, frame[300:])
    assert_legible(display.figure_)
    assert display.categories == {0: ("female", "male"), 4: ("Bern", "Graz", "Ulm"), 5: ("no", "yes")}
    position = {text.get_text(): text.get_position()[0] for text in display.ax_.texts}
    assert position["female"] > 0 > position["male"]  # for and against "survived"
    dots = display.ax_.collections[display.shown_.tolist().index(0)]
    dots.update_scalarmappable()
    assert {tuple(color) for color in dots.get_facecolors()} == {to_rgba("#009E73")}
    assert {"yes", "no"} & set(position)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "category or missing value"
    legend, panel = display.ax_.get_legend().get_window_extent(), display.ax_.get_window_extent()
    assert legend.y0 >= panel.y1


def test_one_explanation(passengers, odd_queries, assert_legible):
    _, _, clf = passengers
    display = ExplanationDisplay.from_estimator(clf, odd_queries, row=0)
    assert_legible(display.figure_)
    labels = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert "Town = Wien (in no training row)" in labels
    neighbors = [text.get_text() for text in display.neighbors_ax_.get_yticklabels()]
    assert neighbors[2].startswith(f"row {display.explanation.neighbor_ids[0, 0]} · ")
    gap = ExplanationDisplay.from_estimator(clf, odd_queries, row=1)
    assert any(text.get_text().startswith("Fare = missing") for text in gap.ax_.get_yticklabels())


def test_tables_of_other_libraries(passengers):
    polars = pytest.importorskip("polars")
    frame, _, clf = passengers
    rows = polars.from_pandas(frame[300:].assign(Class=frame[300:]["Class"].astype(str)))
    display = ExplanationDisplay.from_estimator(clf, rows, row=-1)
    assert display.explanation.predictions[0] == clf.predict(frame[-1:])[0]
    assert SupportBeeswarmDisplay.from_estimator(clf, rows).supports.shape == (100, 7)


def test_regions_leave_out_rows_with_gaps_and_need_numbers(passengers):
    frame, y, _ = passengers
    rows = frame[["Fare", "Age"]]
    clf = LANNClassifier(random_state=0, max_iter=1).fit(rows, y)
    display = DecisionRegionsDisplay.from_estimator(clf, n_ellipses=5)
    assert len(display.X) == rows.notna().all(axis=1).sum()
    assert len(display.ellipses) == 0
    clf = LANNClassifier(random_state=0, max_iter=1).fit(frame[["Fare", "Sex"]], y)
    with pytest.raises(ValueError, match="Both features must be numbers; 'Sex' is a category"):
        DecisionRegionsDisplay.from_estimator(clf)


def test_ticks_of_times_and_of_many_steps():
    rng = np.random.default_rng(0)
    steps = ["lowest", "low", "medium", "high", "highest"]
    frame = pd.DataFrame(
        {
            "level": pd.Categorical(rng.choice(steps, 200), steps, ordered=True),
            "month": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 10**7, 200), "s"),
            "hour": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 80_000, 200), "s"),
        }
    )
    clf = LANNClassifier(random_state=0, max_iter=1).fit(frame, rng.integers(0, 2, 200))
    display = FeatureCurvesDisplay.from_estimator(clf)
    panels = dict(zip(display.shown_.tolist(), display.axes_, strict=True))
    ticks = {f: [text.get_text() for text in panel.get_xticklabels()] for f, panel in panels.items()}
    assert ticks[0] == ["lowest", "medium", "highest"]
    assert [len(text) for text in ticks[1]] == [10, 10]
    assert all(re.fullmatch(r"[0-9]{2}:[0-9]{2}", text) for text in ticks[2])

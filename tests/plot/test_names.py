"""Users' names are drawn letter by letter, whatever is in them."""

import io

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.cbook import is_math_text
from matplotlib.text import Text

from lann import LANNClassifier
from lann.plot import (
    ContributionBeeswarmDisplay,
    DecisionRegionsDisplay,
    EmbeddingDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    RelevanceDisplay,
    RelevanceMapDisplay,
    SuspiciousPointsDisplay,
)
from lann.plot._style import plain

# The first would be an error, the second a word in italics.
FEATURES = [r"$\foo$ tax", "$a$ [$]"]
CLASSES = [r"$\bar$", "$cost$", r"\$ escaped $"]


@pytest.fixture(scope="module")
def priced():
    rng = np.random.default_rng(0)
    places = np.arange(90) % 3
    X = pd.DataFrame(rng.normal(size=(90, 2)) + 2 * places[:, None], columns=FEATURES)
    clf = LANNClassifier(max_iter=2, random_state=0)
    return clf.fit(X, np.array(CLASSES)[places]), X


def _embedding(more):
    places = np.random.default_rng(0).normal(size=(60, 2))
    labels = np.arange(60) % 3
    return EmbeddingDisplay(
        places, labels, class_names=CLASSES, names=FEATURES[:1], notes=FEATURES[1:], title=CLASSES[0], **more
    ).plot()


def _panels():
    places, labels = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    return EmbeddingDisplay(
        [places] * 2, [labels] * 2, class_names=CLASSES, names=FEATURES, title=CLASSES[1]
    ).plot()


DRAWN = {
    "beeswarm": lambda clf, X: ContributionBeeswarmDisplay.from_estimator(clf, X, label=CLASSES[0]),
    "regions": lambda clf, X: DecisionRegionsDisplay.from_estimator(clf),
    "explanation": lambda clf, X: ExplanationDisplay.from_estimator(clf, X, row=0, ids=[r"$\id$"] * 90),
    "curves": lambda clf, X: FeatureCurvesDisplay.from_estimator(clf),
    "relevance": lambda clf, X: RelevanceDisplay.from_estimator(clf),
    "map": lambda clf, X: RelevanceMapDisplay.from_estimator(clf),
    "suspicious": lambda clf, X: SuspiciousPointsDisplay.from_estimator(clf, ids=[r"$\id$"] * 90),
    "embedding": lambda clf, X: _embedding({}),
    "numbers": lambda clf, X: _embedding({"values": np.arange(60.0), "unit": FEATURES[0]}),
    "groups": lambda clf, X: _embedding({"values": np.arange(60) % 2, "value_names": FEATURES}),
    "panels": lambda clf, X: _panels(),
}


@pytest.mark.parametrize("kind", DRAWN)
def test_a_dollar_sign_begins_no_formula(priced, kind):
    figure = DRAWN[kind](*priced).figure_
    figure.savefig(io.BytesIO(), format="svg")
    texts = [text.get_text() for text in figure.findobj(Text)]
    with_dollars = [text for text in texts if "$" in text and r"\mathdefault" not in text]
    assert len(with_dollars) >= 2
    assert not any(is_math_text(text) for text in with_dollars)


@pytest.mark.parametrize("on", [True, False])
@pytest.mark.parametrize("name", [*FEATURES, *CLASSES, "price $", r"a\b"])
def test_what_is_drawn_is_what_was_given(name, on):
    with rc_context({"text.parse_math": on}):
        text = Text(text=plain(name))
        assert text._preprocess_math(text.get_text()) == (name, False)

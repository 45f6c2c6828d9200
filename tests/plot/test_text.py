import io

import numpy as np
import pandas as pd
import pytest
from matplotlib import rc_context
from matplotlib.cbook import is_math_text
from matplotlib.text import Text

from lann import LANNClassifier
from lann.plot import (
    DecisionRegionsDisplay,
    EmbeddingDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    RelevanceDisplay,
    RelevanceMapDisplay,
    SupportBeeswarmDisplay,
    SuspiciousRowsDisplay,
)
from lann.plot._text import escape_math, format_value, shorten, shorten_unique, wrap_text

# In math mode, the first name would be an error and the second one in italics.
FEATURES = [r"$\foo$ tax", "$a$ [$]"]
CLASSES = [r"$\bar$", "$cost$", r"\$ escaped $"]


def test_shortened_names_keep_both_ends():
    names = [shorten(f"a long name that ends in a number {k}", 20) for k in range(100)]
    assert len(set(names)) == 100
    assert max(map(len, names)) == 20
    assert shorten("ash", 20) == "ash"


def test_only_ambiguous_names_are_kept_longer():
    names = [f"a name with its number {k} in the middle of it" for k in range(12)]
    shortened = shorten_unique([*names, "another long name, different from the others"], 16)
    assert len(set(shortened)) == 13
    assert len(shortened[-1]) == 16
    assert max(map(len, shortened)) < len(names[-1])
    assert shorten_unique(["the very same name"] * 2, 9) == ["the …name"] * 2


def test_names_that_differ_in_the_middle_keep_what_distinguishes_them():
    names = [f"mean concentration of substance number {k} in the blood sample" for k in range(14)]
    shortened = shorten_unique(names, 30)
    assert shortened[3] == "mean concentr…number 3…"
    assert shortened[12] == "mean concentr…number 12…"
    assert max(map(len, shortened)) <= 30
    assert len(set(shortened)) == 14


def test_wrapped_lines_fit_the_width():
    text = "mean concentration of the measured substance in the blood sample"
    lines = wrap_text(text, 2.0, 9.0).splitlines()
    assert " ".join(lines) == text
    assert all(len(line) * 0.56 * 9 <= 144 for line in lines)
    two_lines = wrap_text(text, 1.5, 9.0, max_lines=2)
    assert len(two_lines.splitlines()) == 2
    assert two_lines.startswith("mean conc")
    assert two_lines.endswith("sample")
    assert wrap_text("first\nsecond", 2.0) == "first\nsecond"


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("petal width (cm)", 0.2, "petal width = 0.2 cm"),
        ("mass [kg]", 70.0, "mass = 70 kg"),
        ("proline", 1480.0, "proline = 1480"),
        ("tiny", 1.25e-7, "tiny = 1.25e-07"),
        ("f(x) of y", -3.0, "f(x) of y = -3"),
    ],
)
def test_values_are_formatted_with_their_unit(name, value, text):
    assert format_value(name, value) == text


@pytest.mark.parametrize("parse_math", [True, False])
@pytest.mark.parametrize("name", [*FEATURES, *CLASSES, "price $", r"a\b"])
def test_escaped_text_is_drawn_unchanged(name, parse_math):
    with rc_context({"text.parse_math": parse_math}):
        text = Text(text=escape_math(name))
        assert text._preprocess_math(text.get_text()) == (name, False)


@pytest.fixture(scope="module")
def dollar_names():
    """A model and its training rows, with dollar signs in the names of features and classes."""
    rng = np.random.default_rng(0)
    labels = np.arange(90) % 3
    X = pd.DataFrame(rng.normal(size=(90, 2)) + 2 * labels[:, None], columns=FEATURES)
    return LANNClassifier(max_iter=2, random_state=0).fit(X, np.array(CLASSES)[labels]), X


def _draw_embedding(**options):
    coordinates, labels = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    names = {"names": FEATURES[:1], "notes": FEATURES[1:], "title": CLASSES[0]}
    return EmbeddingDisplay(coordinates, labels, class_names=CLASSES, **names, **options).plot()


def _draw_panels():
    coordinates, labels = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    return EmbeddingDisplay(
        [coordinates] * 2, [labels] * 2, class_names=CLASSES, names=FEATURES, title=CLASSES[1]
    ).plot()


DATA = {"data_name": r"$\data$"}
DISPLAYS = {
    "beeswarm": lambda clf, X: SupportBeeswarmDisplay.from_estimator(clf, X, label=CLASSES[0], **DATA),
    "regions": lambda clf, X: DecisionRegionsDisplay.from_estimator(clf, **DATA),
    "explanation": lambda clf, X: ExplanationDisplay.from_estimator(
        clf, X, row=0, ids=[r"$\id$"] * 90, **DATA
    ),
    "curves": lambda clf, X: FeatureCurvesDisplay.from_estimator(clf, **DATA),
    "relevance": lambda clf, X: RelevanceDisplay.from_estimator(clf, **DATA),
    "relevance map": lambda clf, X: RelevanceMapDisplay.from_estimator(clf, **DATA),
    "suspicious rows": lambda clf, X: SuspiciousRowsDisplay.from_estimator(clf, ids=[r"$\id$"] * 90, **DATA),
    "embedding": lambda clf, X: _draw_embedding(),
    "embedding, numbers": lambda clf, X: _draw_embedding(values=np.arange(60.0), value_label=FEATURES[0]),
    "embedding, groups": lambda clf, X: _draw_embedding(values=np.arange(60) % 2, value_names=FEATURES),
    "embedding, panels": lambda clf, X: _draw_panels(),
}


@pytest.mark.parametrize("kind", DISPLAYS)
def test_displays_draw_dollar_signs(dollar_names, kind):
    figure = DISPLAYS[kind](*dollar_names).figure_
    for file_format, start in (("svg", b"<?xml"), ("pdf", b"%PDF")):
        file = io.BytesIO()
        figure.savefig(file, format=file_format)
        assert file.getvalue().startswith(start)
    texts = [text.get_text() for text in figure.findobj(Text)]
    with_dollars = [text for text in texts if "$" in text and r"\mathdefault" not in text]
    assert len(with_dollars) >= 2
    if "embedding" not in kind:
        assert any(r"\data" in text for text in with_dollars)
    assert not any(is_math_text(text) for text in with_dollars)

"""What all displays share: the convention, colors, texts and rows."""

import inspect
import io
import itertools
import re
import sys
from importlib.resources import files

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.cbook import is_math_text
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lann.plot
from lann import LANNClassifier
from lann._support.format import CLASS_COLORS
from lann.baselines import LGMLVQ
from lann.plot import (
    DecisionRegionsDisplay,
    EmbeddingDisplay,
    ExplanationDisplay,
    FeatureCurvesDisplay,
    RelevanceDisplay,
    RelevanceMapDisplay,
    SupportBeeswarmDisplay,
    SuspiciousRowsDisplay,
    check_matplotlib_support,
    class_colors,
)
from lann.plot._beeswarm import LOW_TO_HIGH
from lann.plot._display import AGAINST, FOR

DISPLAYS = [name for name in lann.plot.__all__ if name.endswith("Display")]


def test_importing_the_displays_does_not_import_matplotlib(in_new_process):
    loaded = in_new_process(
        """
        import json, sys
        import lann, lann.plot
        displays = [getattr(lann.plot, name) for name in lann.plot.__all__]
        print(json.dumps([name for name in ("matplotlib", "shap", "lime") if name in sys.modules]))
        """
    )
    assert loaded == []


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_follow_the_convention_of_scikit_learn(name):
    display = getattr(lann.plot, name)
    assert list(inspect.signature(display.plot).parameters)[1] == "ax"
    assert "ax" in inspect.signature(display.from_estimator).parameters
    text = inspect.getdoc(display)
    assert all(attribute in text for attribute in (">>>", "figure_ : ", "ax_ : "))
    parameters = list(inspect.signature(display).parameters)
    assert all(f"{parameter} : " in text for parameter in parameters)
    for method in (display.plot, display.from_estimator):
        text = inspect.getdoc(method)
        assert "Returns\n-------" in text
        assert all(f"{parameter} : " in text for parameter in list(inspect.signature(method).parameters)[1:])


# Simulation of color vision deficiencies on linear RGB (Machado, Oliveira, Fernandes 2009).
DEFICIENCIES = {
    "none": np.eye(3),
    "protanopia": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deuteranopia": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def distance(first, second, deficiency):
    """Return the distance between two colors as seen with a color vision deficiency."""
    linear = np.array([to_rgb(first), to_rgb(second)]) ** 2.2
    seen = np.clip(linear @ np.array(DEFICIENCIES[deficiency]).T, 0, 1) ** (1 / 2.2)
    return np.linalg.norm(seen[0] - seen[1])


@pytest.mark.parametrize("deficiency", DEFICIENCIES)
def test_colors_are_distinct_with_color_vision_deficiencies(deficiency):
    for first, second in itertools.combinations(CLASS_COLORS, 2):
        assert distance(first, second, deficiency) > 0.17
    assert distance(FOR, AGAINST, deficiency) > 0.4
    assert distance(LOW_TO_HIGH[0], LOW_TO_HIGH[-1], deficiency) > 0.4


def test_class_colors_have_a_contrast_of_3_to_white():
    rgb = np.array([to_rgb(color) for color in CLASS_COLORS])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    assert np.all(1.05 / (linear @ [0.2126, 0.7152, 0.0722] + 0.05) >= 3)


def test_the_color_of_a_class_does_not_depend_on_the_number_of_classes():
    assert class_colors(40)[:10] == class_colors(10) == list(CLASS_COLORS)
    assert class_colors(12)[10:] == class_colors(2)
    with pytest.raises(ValueError, match="n_classes must be"):
        class_colors(-1)


def test_pages_use_the_same_colors():
    css = files("lann._markup").joinpath("page.css").read_text()
    light, dark = css.split("prefers-color-scheme: dark", 1)
    assert re.findall(r"--c\d: (#\w+)", light) == [color.lower() for color in CLASS_COLORS]
    assert len(re.findall(r"--c\d: #\w+", dark)) == len(CLASS_COLORS)


# In math mode, the first name would be an error and the second one in italics.
FEATURES = [r"$\foo$ tax", "$a$ [$]"]


CLASSES = [r"$\bar$", "$cost$", r"\$ escaped $"]


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


DRAWN = {
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


@pytest.mark.parametrize("kind", DRAWN)
def test_displays_draw_dollar_signs(dollar_names, kind):
    figure = DRAWN[kind](*dollar_names).figure_
    figure.savefig(io.BytesIO(), format="svg")
    texts = [text.get_text() for text in figure.findobj(Text)]
    with_dollars = [text for text in texts if "$" in text and r"\mathdefault" not in text]
    assert len(with_dollars) >= 2
    if "embedding" not in kind:
        assert any(r"\data" in text for text in with_dollars)
    assert not any(is_math_text(text) for text in with_dollars)


def test_invalid_rows_raise(clf, iris_frame, monkeypatch):
    X, y = iris_frame
    for arguments, options, message in [
        ((None, y), {}, "y was given without X"),
        ((X, y[:2]), {}, "same number of rows; got 150 and 2"),
        ((X, np.full(150, 7)), {}, r"labels of the model, \[0, 1, 2\]; got 7"),
        ((X, y), {"class_names": ["a", "b"]}, "must have 3 names, one per class; got 2"),
        ((X, y), {"quantity": "shap"}, "quantity must be one of 'relevances', 'feature_weights'"),
        ((), {"ax": plt.figure().add_axes((0.1, 0.1, 0.8, 0.8))}, r"ax must be created by plt\.subplots"),
    ]:
        with pytest.raises(ValueError, match=message):
            RelevanceDisplay.from_estimator(clf, *arguments, **options)
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install 'lann\[plot\]'"):
        check_matplotlib_support()


def test_model_without_explanations_or_training_rows_raises(iris_frame):
    X, y = iris_frame[0].to_numpy(), iris_frame[1].to_numpy()
    knn = KNeighborsClassifier().fit(X, y)
    with pytest.raises(ValueError, match="needs a model with `explain`; got KNeighborsClassifier"):
        RelevanceDisplay.from_estimator(knn, X, y)
    with pytest.raises(ValueError, match="KNeighborsClassifier does not keep its training rows; pass X"):
        RelevanceDisplay.from_estimator(knn)


def test_rows_of_pipelines_and_prototypes(iris_frame):
    X, y = iris_frame
    pipe = make_pipeline(StandardScaler(), LANNClassifier(max_iter=2, random_state=0)).fit(X, y)
    display = RelevanceDisplay.from_estimator(pipe, X, data_name="Iris")
    relevances, predicted = pipe[-1].explain(pipe[0].transform(X)).relevances, pipe.predict(X)
    np.testing.assert_allclose(display.means[1], relevances[predicted == 1].mean(axis=0))
    assert FeatureCurvesDisplay.from_estimator(pipe).feature_names[0] == "sepal length (cm), scaled"
    sample = RelevanceMapDisplay.from_estimator(pipe, n_rows=9)
    assert np.bincount(sample.labels).tolist() == [3, 3, 3]
    assert sample.subtitle == "9 of 150 training rows"
    prototypes = RelevanceMapDisplay.from_estimator(LGMLVQ(max_iter=2, random_state=0).fit(X, y))
    assert prototypes.subtitle == "3 prototypes"

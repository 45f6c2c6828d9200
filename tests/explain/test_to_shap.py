"""The `shap.Explanation` adds up, and the plots of shap draw it."""

from inspect import signature

import matplotlib as mpl
import numpy as np
import pytest
import shap

from lann import LANNClassifier

mpl.use("Agg")


@pytest.fixture(scope="module")
def explanation(wine):
    X, y = wine
    return LANNClassifier(random_state=0, max_iter=4).fit(X[::2], y[::2]).explain(X[1::2])


def test_values_and_base_add_up_to_the_probability(explanation):
    found = explanation.to_shap()
    assert isinstance(found, shap.Explanation)
    np.testing.assert_array_equal(found.values, explanation.support)
    np.testing.assert_allclose(
        found.base_values + found.values.sum(axis=1), explanation.probabilities.max(axis=1)
    )
    np.testing.assert_array_equal(found.data, explanation.queries)
    assert found.feature_names == [f"x{number}" for number in range(13)]


def test_any_class(explanation):
    found = explanation.to_shap(label=2)
    np.testing.assert_array_equal(found.values, explanation.supports[:, 2])
    np.testing.assert_allclose(found.base_values + found.values.sum(axis=1), explanation.probabilities[:, 2])
    with pytest.raises(ValueError, match=r"label must be one of the classes \[0, 1, 2\]; got 'red'"):
        explanation.to_shap(label="red")


def test_unknown_supports_raise(made):
    with pytest.raises(ValueError, match="The supports of this explanation are unknown"):
        made([[0.5, 0.3, 0.2]], [["benign"] * 3]).to_shap()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("grouped", [False, True])
def test_the_plots_of_shap_draw_it(explanation, grouped):
    import matplotlib.pyplot as plt

    if grouped:
        explanation = explanation.group_features({"both": ["x6", "x12"]})
    found = explanation.to_shap()
    axes = shap.plots.waterfall(found[0], show=False)
    labels = [label.get_text() for label in axes.get_yticklabels()]
    plt.close("all")
    # Without the option, earlier versions of shap add up the features after the first ones.
    known = signature(shap.plots.beeswarm).parameters
    options = {"group_remaining_features": False} if "group_remaining_features" in known else {}
    axes = shap.plots.beeswarm(found, show=False, max_display=20, **options)
    shown = {label.get_text() for label in axes.get_yticklabels()}
    plt.close("all")
    if grouped:
        assert "several = both" in labels
        assert "both" in shown
    else:
        first = explanation.feature_names[np.abs(explanation.support[0]).argmax()]
        assert any(label.endswith(f"= {first}") for label in labels)
        assert "x6" in shown

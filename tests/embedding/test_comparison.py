"""Comparisons of embeddings, and the embeddings of the paper."""

import numpy as np
import pytest
from sklearn.frozen import FrozenEstimator
from sklearn.manifold import SpectralEmbedding
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.embedding import (
    LANNEmbedding,
    compare_embeddings,
    embedding_quality,
    held_out_predictions,
    leave_one_out_predictions,
    make_panel,
    paper_embeddings,
)

NAMES = ["PCA", "LDA", "GMLVQ", "LMNN", "UMAP", "LGMLVQ", "LANN"]


@pytest.fixture(scope="module")
def halves(wine):
    X, y = wine
    names = np.array(["red", "rosé", "white"])[y]
    return X[::2], names[::2], X[1::2], names[1::2]


@pytest.fixture(scope="module")
def comparison(halves):
    embeddings = paper_embeddings(classifier=LANNClassifier(max_iter=4, random_state=0), random_state=0)
    return compare_embeddings(*halves, embeddings=embeddings)


def test_a_panel_for_every_method_of_the_paper(comparison, halves):
    X, y, X_test, y_test = halves
    assert [panel.name for panel in comparison] == NAMES
    assert len(comparison) == 7
    for panel in comparison.panels:
        assert comparison[panel.name] is panel
        assert panel.coordinates.shape == (len(X), 2)
        assert panel.held_out_coordinates.shape == (len(X_test), 2)
        np.testing.assert_array_equal(panel.labels, y)
        np.testing.assert_array_equal(panel.held_out_labels, y_test)
        np.testing.assert_array_equal(panel.predictions, leave_one_out_predictions(panel.coordinates, y))
        np.testing.assert_array_equal(
            panel.held_out_predictions, held_out_predictions(panel.coordinates, y, panel.held_out_coordinates)
        )
        assert panel.accuracy == np.mean(panel.predictions == y)
        assert panel.held_out_accuracy == np.mean(panel.held_out_predictions == y_test)
        assert panel.held_out_accuracy > 0.85
        assert panel.seconds > 0
        np.testing.assert_allclose(panel.estimator.transform(X_test), panel.held_out_coordinates)


def test_quality_is_against_scaled_data_and_the_metrics_of_lann(comparison, halves):
    X, y, _, y_test = halves
    classifier = comparison["LANN"].estimator[-1].classifier_
    frame = comparison.to_frame()
    assert frame.index.tolist() == NAMES
    for panel in comparison:
        assert panel.quality == embedding_quality(
            StandardScaler().fit_transform(X), panel.coordinates, y,
            held_out_coordinates=panel.held_out_coordinates,
            held_out_labels=y_test, classifier=classifier,
        )  # fmt: skip
        row = frame.loc[panel.name]
        assert (row["accuracy"], row["held_out_accuracy"]) == (panel.accuracy, panel.held_out_accuracy)
        assert (row["trustworthiness"], row["seconds"]) == (panel.quality.trustworthiness, panel.seconds)


def test_without_held_out_rows_and_without_lann(halves):
    X, y, X_test, y_test = halves
    linear = {name: paper_embeddings()[name] for name in ("PCA", "LDA", "GMLVQ", "LMNN")}
    comparison = compare_embeddings(X, y == "red", embeddings=linear, n_neighbors=3)
    for panel in comparison:
        assert panel.coordinates.shape == (len(X), 2)
        assert panel.held_out_coordinates is panel.held_out_labels is panel.held_out_predictions is None
        assert panel.held_out_accuracy is panel.quality.neighborhood_preservation is None
        assert panel.quality.n_neighbors == 3
    assert comparison.to_frame()["held_out_accuracy"].isna().all()
    # Copies were fitted.
    assert not hasattr(linear["PCA"][-1], "components_")
    # An embedding without `transform` has no held-out rows.
    spectral = {"spectral": SpectralEmbedding(random_state=0)}
    panel = compare_embeddings(X, y, X_test, y_test, embeddings=spectral)["spectral"]
    assert panel.held_out_coordinates is panel.held_out_labels is panel.held_out_accuracy is None


def test_a_single_panel_with_a_fitted_classifier(comparison, halves):
    fitted = comparison["LANN"].estimator[-1].classifier_
    layout = LANNEmbedding(FrozenEstimator(fitted), symmetry="max", random_state=0)
    panel = make_panel(
        "max", make_pipeline(StandardScaler(), layout), halves[:2], halves[2:], classifier=fitted
    )
    assert layout.classifier_.model_ is fitted.model_
    assert panel.name == "max"
    assert panel.held_out_accuracy > 0.85


def test_unknown_names_raise(comparison):
    with pytest.raises(KeyError, match="no embedding 'Isomap'; there are 'PCA', 'LDA'"):
        comparison["Isomap"]


@pytest.mark.parametrize(
    ("arguments", "options", "said"),
    [
        (lambda X, y, A, b: (X, y, A), {}, "X_test and y_test must be given together"),
        (lambda X, y, A, b: (X, y[:-1]), {}, "inconsistent numbers of samples"),
        (lambda X, y, A, b: (X, y, A, b[:-1]), {}, "inconsistent numbers of samples"),
        (lambda X, y, A, b: (X, y), {"embeddings": {}}, "at least one method"),
    ],
)
def test_invalid_arguments_raise(halves, arguments, options, said):
    with pytest.raises(ValueError, match=said):
        compare_embeddings(*arguments(*halves), **options)


def test_all_scale_first_and_share_the_layout():
    classifier = LANNClassifier(metric="full")
    made = paper_embeddings(classifier=classifier, n_neighbors=7, min_dist=0.4, random_state=3, n_jobs=2)
    assert all(isinstance(pipeline[0], StandardScaler) for pipeline in made.values())
    for name in ("UMAP", "LGMLVQ", "LANN"):
        layout = made[name][-1].get_params(deep=False)
        assert (layout["n_neighbors"], layout["min_dist"], layout["random_state"]) == (7, 0.4, 3)
        assert layout["n_jobs"] == 2
    assert made["LANN"][-1].classifier is classifier
    assert made["GMLVQ"][-1].n_components == made["LMNN"][-1].n_components == 2

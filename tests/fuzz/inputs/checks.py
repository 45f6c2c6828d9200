"""What has to hold of results that an estimator returns."""

from __future__ import annotations

import pickle
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import lann
from tests.fuzz.inputs.subjects import Subject, honest_rows
from tests.fuzz.outcomes import WrongResult

TOLERANCE = 1e-9
# What a method says of tables of Dask, which other methods take.
IN_MEMORY = "takes rows in memory"


def require(holds: Any, text: str) -> None:
    """Raise WrongResult with a text unless something holds."""
    if not np.all(holds):
        raise WrongResult(text)


def same(one: Any, other: Any) -> bool:
    """Return whether two results are equal to the bit, gaps included."""
    one, other = np.asarray(one), np.asarray(other)
    if one.shape != other.shape:
        return False
    is_float = one.dtype.kind == "f" and other.dtype.kind == "f"
    return np.array_equal(one, other, equal_nan=is_float)


def check_results(subject: Subject, estimator: Any, X: Any, n_rows: int, *, explain: bool) -> None:
    """
    Check everything that an estimator says of some rows.

    Parameters
    ----------
    subject
        Its kind.
    estimator
        Fitted.
    X
        Rows, in any container, that can be read several times.
    n_rows
        Number of rows.
    explain
        Whether explanations are checked, which takes longer.
    """
    if not subject.is_classifier:
        check_coordinates(estimator, X, n_rows)
        return
    probabilities = np.asarray(estimator.predict_proba(X))
    check_probabilities(probabilities, n_rows, len(estimator.classes_))
    predictions = np.asarray(estimator.predict(X))
    check_predictions(estimator, predictions, probabilities)
    require(same(estimator.predict_proba(X), probabilities), "A second call has other probabilities.")
    try:
        _check_others(estimator, X, predictions, probabilities, explain=explain)
    except (ValueError, TypeError) as error:
        if IN_MEMORY in str(error):
            raise
        raise WrongResult(f"predict_proba returns, but another method raises: {error}") from error


def _check_others(
    estimator: Any, X: Any, predictions: np.ndarray, probabilities: np.ndarray, *, explain: bool
) -> None:
    """Check all methods of a classifier but those that predict."""
    n_rows = len(probabilities)
    if hasattr(estimator, "reasons"):
        check_decisions(estimator, X, n_rows)
    if hasattr(estimator, "kneighbors"):
        check_neighbors(estimator, X, n_rows)
    if explain and hasattr(estimator, "explain"):
        check_explanation(estimator, X, predictions, probabilities)
    if hasattr(estimator, "transform"):
        check_coordinates(estimator, X, n_rows)
    if hasattr(estimator, "explain_one") and n_rows:
        check_stream_explanation(estimator, X, probabilities)


def check_saved(subject: Subject, estimator: Any, X: Any, *, usual: bool = True) -> None:
    """
    Check that an estimator can be saved and pickled, and says the same afterwards.

    Parameters
    ----------
    subject
        Its kind.
    estimator
        Fitted.
    X
        Rows, in any container, that can be read several times.
    usual
        Whether it can be saved if its labels can; parameters may be what a model file does not have.
    """
    expected = np.asarray(getattr(estimator, subject.output)(X))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "model.lann")
        try:
            lann.save(estimator, path)
            loaded = lann.load(path)
        except (ValueError, TypeError) as error:
            if not (usual and _has_usual_labels(estimator)):
                raise
            raise WrongResult(f"What was fitted cannot be saved: {error}") from error
        found = np.asarray(getattr(loaded, subject.output)(X))
    require(same(found, expected), f"A loaded model says {found[:2]}, not {expected[:2]}.")
    found = np.asarray(getattr(pickle.loads(pickle.dumps(estimator)), subject.output)(X))
    require(same(found, expected), f"A pickled model says {found[:2]}, not {expected[:2]}.")


def _has_usual_labels(estimator: Any) -> bool:
    """Return whether labels are numbers or text, as those in a model file are."""
    classes = np.asarray(getattr(estimator, "classes_", 0))
    return classes.dtype.kind in "biufU" or all(isinstance(label, str) for label in classes.tolist())


def check_coordinates(estimator: Any, X: Any, n_rows: int) -> None:
    """Check the result of transform."""
    coordinates = np.asarray(estimator.transform(X))
    width = len(estimator.get_feature_names_out())
    require(coordinates.shape == (n_rows, width), f"transform returns the shape {coordinates.shape}.")
    require(np.isfinite(coordinates), "Coordinates are not finite.")
    require(same(estimator.transform(X), coordinates), "A second call of transform has other coordinates.")


def check_probabilities(probabilities: np.ndarray, n_rows: int, n_classes: int) -> None:
    """Check shape and range of probabilities."""
    require(probabilities.shape == (n_rows, n_classes), f"Probabilities of shape {probabilities.shape}.")
    require(np.isfinite(probabilities), f"Probabilities are not finite: {probabilities.tolist()[:3]}.")
    require((probabilities >= 0) & (probabilities <= 1), "Probabilities are not in [0, 1].")
    require(np.abs(probabilities.sum(axis=1) - 1) < TOLERANCE, "Probabilities do not add up to 1.")


def check_predictions(estimator: Any, predictions: np.ndarray, probabilities: np.ndarray) -> None:
    """Check that the class that is predicted is the most probable one, or that the row is rejected."""
    expected = np.asarray(estimator.classes_)[probabilities.argmax(axis=1)]
    agree = predictions == expected
    if hasattr(estimator, "reject_label_"):
        agree = agree | np.array([label == estimator.reject_label_ for label in predictions], bool)
    require(agree, f"predict and predict_proba differ: {predictions.tolist()[:5]}, {expected.tolist()[:5]}.")


def check_decisions(estimator: Any, X: Any, n_rows: int) -> None:
    """Check what a reject option decides."""
    decisions, certainties = estimator.decision(X), estimator.certainties(X)
    novelties = estimator.novelties(X)
    require(len(decisions) == n_rows and len(estimator.reasons(X)) == n_rows, "Decisions are missing.")
    require(np.isfinite(certainties), "Certainties are not finite.")
    is_measured = estimator.novelty_share > 0 or estimator.certainty == "novelty"
    require(np.isnan(novelties) != is_measured, f"Novelties {novelties}.")


def check_neighbors(estimator: Any, X: Any, n_rows: int) -> None:
    """Check the shape, the range and the order of neighbors and distances."""
    n_training = estimator.model_.n_rows
    k = min(2, n_training)
    distances, indices = map(np.asarray, estimator.kneighbors(X, k))
    require(distances.shape == (n_rows, k) == indices.shape, f"Neighbors of shape {indices.shape}.")
    require(np.isfinite(distances) & (distances >= 0), f"Distances {distances.tolist()[:3]}.")
    require(np.diff(distances, axis=1) >= 0, "Distances are not ascending.")
    require((indices >= 0) & (indices < n_training), "There are indices of no training row.")
    require(np.diff(np.sort(indices, axis=1), axis=1) > 0, "A row is its neighbor twice.")


def check_reference(estimator: Any, X: np.ndarray) -> None:
    """Check neighbors by distances in the highest precision, where nothing is learned."""
    training, _ = honest_rows()
    differences = X[:, None].astype(np.longdouble) - training[None]
    reference = np.sort(np.sqrt(np.square(differences).sum(axis=2)), axis=1)[:, :3].astype(float)
    distances, _ = estimator.kneighbors(X, 3)
    tolerance = 1e-9 * reference + 1e-7 * np.abs(X).max(initial=1.0) * 2.0**-26
    require(np.abs(distances - reference) <= tolerance, f"Distances {distances[0]}, not {reference[0]}.")


def check_explanation(estimator: Any, X: Any, predictions: np.ndarray, probabilities: np.ndarray) -> None:
    """Check that an explanation agrees with what is predicted, and that all of it is finite."""
    options = {"leave_out": None} if hasattr(estimator, "kneighbors") else {}
    explanation = estimator.explain(X, **options)
    require(len(explanation) == len(probabilities), "Rows are missing in the explanation.")
    left_out = explanation.left_out
    voted = np.full(len(explanation), True) if left_out is None else np.asarray(left_out) < 0
    require(same(explanation.probabilities[voted], probabilities[voted]), "explain has other probabilities.")
    if not hasattr(estimator, "reject_label_"):
        require(same(explanation.predictions[voted], predictions[voted]), "explain has other predictions.")
    require(np.isfinite(explanation.distances), "Distances of an explanation are not finite.")
    total = np.sqrt(np.maximum(explanation.contributions.sum(axis=2), 0.0))
    largest = np.abs(np.nan_to_num(explanation.queries)).max(initial=1.0)  # lengths are rounded like these
    require(
        np.abs(total - explanation.distances)
        <= 1e-6 * explanation.distances.max(initial=0.0) + 1e-15 * largest,
        "Contributions do not add up to the squared distances.",
    )
    require(np.isfinite(explanation.relevances), "Relevances are not finite.")
    require(np.isfinite(explanation.supports), "Supports are not finite.")
    require(np.isfinite(explanation.vote_shares), "Vote shares are not finite.")
    require(len(explanation.in_words()) == len(explanation) == len(explanation.to_dict()), "No text.")
    explanation.to_frame()
    if len(explanation):
        str(explanation)


def check_stream_explanation(estimator: Any, X: Any, probabilities: np.ndarray) -> None:
    """Check the explanation of the first row by a classifier of a stream."""
    row = X.iloc[:1] if hasattr(X, "iloc") and not hasattr(X, "dask") else np.asarray(X)[:1]
    explanation = estimator.explain_one(row)
    require(same(explanation.probabilities, probabilities[0]), "explain_one has other probabilities.")
    str(explanation)
    explanation.to_dict()

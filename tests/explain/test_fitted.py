"""The functions of `lann.explain` take every classifier whose training rows vote."""

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.explain import influence, local_matrices, nearest_other_class, prototypical_rows, suspicious_rows
from lann.explain._fitted import check_rows, model_of


@pytest.mark.parametrize(
    "clf",
    [
        RandomForestClassifier(3, random_state=0),
        GMLVQ(max_iter=2),
        make_pipeline(StandardScaler(), LANNClassifier(max_iter=0)),
    ],
    ids=["forest", "prototypes", "pipeline"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_classifier_without_training_rows_raises(blobs, clf):
    X, y = blobs
    clf.fit(X, y)
    hint = r"\. Give its last step" if hasattr(clf, "steps") else r"\.$"
    message = rf"{type(clf).__name__} keeps no training rows that vote; LANNClassifier and .*{hint}"
    for call in (
        lambda: model_of(clf),
        lambda: nearest_other_class(clf, X),
        lambda: influence(clf, None, X),
        lambda: prototypical_rows(clf),
        lambda: suspicious_rows(clf),
        lambda: local_matrices(clf),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("rows", [[0, 0], [-1], [90], [0.5], [[0, 1]], ["a"]])
def test_rows_have_to_be_distinct_training_rows(rows):
    with pytest.raises(
        ValueError, match="rows must be different rows of the training data, from 0 to 89; got"
    ):
        check_rows(rows, 90)


@pytest.mark.parametrize(
    ("rows", "expected"), [(None, [0, 1, 2]), (2, [2]), ([], []), (np.array([2, 0]), [2, 0])]
)
def test_rows_may_be_one_some_or_all(rows, expected):
    assert check_rows(rows, 3).tolist() == expected


def test_importing_lann_does_not_import_numba(in_new_process):
    program = "import json, sys, lann, lann.explain; print(json.dumps('numba' in sys.modules))"
    assert in_new_process(program) is False


def test_a_baseline_gets_the_same_functions(blobs):
    X, y = blobs
    clf = LMNN(max_iter=5).fit(X, y)
    contrast = nearest_other_class(clf, X)
    assert (contrast.labels != clf.predict(X)).all()
    np.testing.assert_allclose(contrast.contributions.sum(axis=1), contrast.distances**2, rtol=1e-9)
    assert prototypical_rows(clf).votes.sum() == pytest.approx(len(X))
    np.testing.assert_array_equal(influence(clf, None, X).predictions, clf.predict(X))
    np.testing.assert_allclose(local_matrices(clf, 0)[0], clf.components_.T @ clf.components_)

"""What training rows do, and for which classifiers it is known."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.explain import influence, local_matrices, nearest_other_class, prototypical_rows, suspicious_rows
from lann.explain._training_rows import model_of
from lann.explain._training_votes import _expected_wrong


def vote_without(clf, row, X):
    """Return the vote with one row excluded from the search."""
    model = clf.model_
    voters = model.voters(X, exclude=np.full(len(X), row))
    return model.vote(*voters).probabilities


PARAMETERS = [
    {"n_candidates": 6},
    {"n_candidates": 3},
    {"n_candidates": None, "power": 0.0},
    {"n_candidates": 500, "class_weight": "balanced", "power": 2.0},
]


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("parameters", PARAMETERS, ids=[str(p) for p in PARAMETERS])
def test_it_is_the_change_of_the_vote_without_the_row(blobs, parameters, weighted):
    X, y = blobs
    weights = np.random.default_rng(0).choice([0.3, 1.0, 2.5], len(X[::2])) if weighted else None
    clf = LANNClassifier(random_state=0, max_iter=4, **parameters).fit(X[::2], y[::2], weights)
    found = influence(clf, None, X)
    before = clf.predict_proba(X)
    np.testing.assert_array_equal(found.probabilities, before)
    for row in range(len(X[::2])):
        after = vote_without(clf, row, X)
        expected = np.flatnonzero((after != before).any(axis=1))
        mine = found.pair_rows == row
        np.testing.assert_array_equal(found.pair_queries[mine], expected)
        np.testing.assert_array_equal(found.probabilities_without[mine], after[expected])
        assert found.totals[row] == pytest.approx(0.5 * np.abs(after - before).sum())
        assert found.n_flipped[row] == (after.argmax(axis=1) != before.argmax(axis=1)).sum()
    assert found.n_flipped.sum() > 0


def test_a_candidate_that_does_not_vote_can_matter(blobs):
    """With few candidates, a row that does not vote can exclude one that would."""
    X, y = blobs
    clf = LANNClassifier(random_state=0, n_neighbors=3, n_candidates=5).fit(X[::2], y[::2])
    voters = clf.kneighbors(X, return_distance=False)
    found = influence(clf, None, X)
    without_vote = ~(voters[found.pair_queries] == found.rows[found.pair_rows][:, None]).any(axis=1)
    assert without_vote.any()


@pytest.fixture
def fitted(blobs):
    X, y = blobs
    return LANNClassifier(random_state=0, max_iter=3).fit(X[::2], np.array(["a", "b", "c"])[y[::2]])


def test_votes_on_queries_add_up_one_by_one(fitted, blobs):
    X, y = blobs
    X, y = X[1::2], np.array(["a", "b", "c"])[y[1::2]]
    found = prototypical_rows(fitted, X, y)
    explanation = fitted.explain(X)
    correct, wrong, n_queries = np.zeros(45), np.zeros(45), np.zeros(45)
    for query in range(len(X)):
        for slot, row in enumerate(explanation.neighbors[query]):
            right = explanation.neighbor_labels[query, slot] == y[query]
            (correct if right else wrong)[row] += explanation.vote_shares[query, slot]
            n_queries[row] += 1
    np.testing.assert_allclose(found.correct, correct, atol=1e-12)
    np.testing.assert_allclose(found.wrong, wrong, atol=1e-12)
    np.testing.assert_array_equal(found.n_queries, n_queries)
    assert found.wrong.sum() > 0


def test_training_rows_do_not_vote_on_themselves(fitted):
    found = prototypical_rows(fitted)
    indices = fitted.kneighbors(return_distance=False)
    np.testing.assert_array_equal(found.n_queries, np.bincount(indices.ravel(), minlength=45))
    assert found.votes.sum() == pytest.approx(45)


def flipped(y, share):
    rng = np.random.default_rng(0)
    rows = rng.choice(len(y), int(share * len(y)), replace=False)
    noisy = y.copy()
    noisy[rows] = (y[rows] + rng.integers(1, y.max() + 1, len(rows))) % (y.max() + 1)
    return noisy, noisy != y


@pytest.mark.parametrize("load", [load_breast_cancer, load_wine])
def test_flipped_labels_are_found(load):
    X, y = load(return_X_y=True)
    noisy, wrong = flipped(y, 0.05)
    found = suspicious_rows(LANNClassifier(random_state=0).fit(X, noisy))
    assert roc_auc_score(wrong, found.scores) > 0.97
    assert wrong[found.ranking[: wrong.sum()]].mean() > 0.8
    assert (found.likely[wrong] == y[wrong]).mean() > 0.85


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_scores_are_margins_of_the_vote_without_the_row_and_of_the_nearest_rows(blobs, weighted):
    X, y = blobs
    weights = np.random.default_rng(0).choice([1.0, 2.0], len(X)) if weighted else None
    clf = LANNClassifier(random_state=0, max_iter=3).fit(X, y, weights)
    model, found = clf.model_, suspicious_rows(clf, n_neighbors=7)
    for row in (0, 40, 89):
        near, _ = model.kneighbors(X[[row]], 7, exclude=np.array([row]))
        counts, left = np.zeros(3), 7.0 * model.mean_weight
        for j in near[0]:
            weight = min(1.0 if weights is None else weights[j], left)
            counts[y[j]] += weight
            left -= weight
        both = (vote_without(clf, row, X[[row]])[0] + counts / counts.sum()) / 2
        expected = (1 + np.delete(both, y[row]).max() - both[y[row]]) / 2
        assert found.scores[row] == pytest.approx(expected, abs=1e-9)
        assert found.likely[row] == both.argmax()


@pytest.mark.parametrize(("share", "most"), [(0.0, 5), (0.05, 35), (0.1, 65)])
def test_about_as_many_are_listed_as_labels_are_wrong(share, most):
    X, y = load_breast_cancer(return_X_y=True)
    noisy, wrong = flipped(y, share)
    found = suspicious_rows(LANNClassifier(random_state=0).fit(X, noisy))
    assert 0.6 * wrong.sum() <= found.expected_wrong <= most
    assert len(found.suspects) == round(found.expected_wrong)
    assert wrong[found.suspects].sum() >= 0.9 * min(len(found.suspects), wrong.sum()) - 1


def test_the_expected_number_is_the_count_of_confident_learning():
    # Rows of "a" have P(a) .8 on average; one of them reaches the .6 of "b", and counts for all its rows.
    probabilities = np.array([[0.9, 0.1], [0.9, 0.1], [0.6, 0.4], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]])
    labels = np.array([0, 0, 0, 0, 1, 1])
    own = np.array([0.9, 0.9, 0.6, 0.4, 0.5, 0.8])
    thresholds = [own[:4].mean(), own[4:].mean()]
    counted, others = np.zeros(2), np.zeros(2)
    for p, label in zip(probabilities, labels, strict=True):
        above = [c for c in range(2) if p[c] >= thresholds[c]]
        if above:
            counted[label] += 1
            others[label] += max(above, key=lambda c: p[c]) != label
    expected = 4 * others[0] / counted[0] + 2 * others[1] / counted[1]
    assert _expected_wrong(probabilities, labels) == pytest.approx(expected)


@pytest.mark.parametrize("n_candidates", [None, 30])
def test_ranking_suspects_and_frame(blobs, n_candidates):
    X, y = blobs
    labels = np.array(["a", "b", "c"])[y]
    labels[3] = "c"
    clf = LANNClassifier(random_state=0, n_candidates=n_candidates, max_iter=3).fit(X, labels)
    found = suspicious_rows(clf)
    assert (np.diff(found.scores[found.ranking]) <= 0).all()
    assert found.suspects.tolist() == found.ranking[: round(found.expected_wrong)].tolist()
    assert 3 in found.suspects[:10]
    frame = found.to_frame()
    assert frame["row"].tolist() == found.ranking.tolist()
    assert frame["label"].tolist() == labels[found.ranking].tolist()
    assert frame["suspect"].sum() == len(found.suspects)
    assert f"90 training rows: {len(found.suspects)} labels" in repr(found)


STEP = 1e-4
FORMS = {
    "point weights": {"levels": ("point",)},
    "all levels": {},
    "point matrices": {"metric": "full", "levels": ("point",)},
    "all levels, full": {"metric": "full"},
    "all levels, low rank": {"metric": "low_rank", "n_components": 2},
}


@pytest.fixture(scope="module")
def quadrants():
    X = np.random.default_rng(0).normal(size=(200, 3))
    return X, (X[:, 0] * X[:, 1] > 0).astype(int)


def distance(levels, j, x):
    """Return d_j(x) by its formula."""
    z = levels.curves.transform(x[None])[0] - levels.curves.transform(levels.X[[j]])[0]
    z = z if levels.components is None else levels.components @ z
    z = np.exp(0.5 * (levels.class_log_weights[levels.labels[j]] + levels.point_log_weights[j])) * z
    return np.sum(z**2 if levels.point_matrices is None else (levels.point_matrices[j].T @ z) ** 2)


def half_hessian(function, x):
    """Return half the second derivatives, by differences of STEP."""
    n, found = len(x), np.empty((len(x), len(x)))
    step = STEP * np.eye(n)
    for a in range(n):
        for b in range(n):
            both = function(x + step[a] + step[b]) + function(x)
            found[a, b] = (both - function(x + step[a]) - function(x + step[b])) / (2 * STEP**2)
    return found


def away_from_edges(levels):
    """Return rows whose neighborhoods lie within one bin of every curve."""
    gaps = np.abs(levels.X[:, :, None] - levels.curves.edges[None])
    return np.flatnonzero((gaps > 3 * STEP).all(axis=(1, 2)))


@pytest.mark.parametrize("form", FORMS)
def test_they_are_half_the_hessian_of_the_distance(quadrants, form):
    clf = LANNClassifier(random_state=0, **FORMS[form]).fit(*quadrants)
    levels = clf.model_.levels
    rows = away_from_edges(levels)[::7]
    assert len(rows) > 10
    found = local_matrices(clf, rows)
    expected = np.array([half_hessian(lambda x, j=j: distance(levels, j, x), levels.X[j]) for j in rows])
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("form", ["all levels", "all levels, full"])
def test_feature_weights_are_their_diagonals(quadrants, form):
    X, y = quadrants
    clf = LANNClassifier(random_state=0, **FORMS[form]).fit(X, y)
    diagonals = np.diagonal(local_matrices(clf), axis1=1, axis2=2)
    # Feature weights have the mean slopes of bins, with their jumps, in place of the slopes.
    curves = clf.curves_
    scale = X.std(axis=0) * curves.mean_slopes_at(X) / curves.slopes_at(X)
    np.testing.assert_allclose(clf.feature_weights_, diagonals * scale**2)


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


def test_a_baseline_gets_the_same_functions(blobs):
    X, y = blobs
    clf = LMNN(max_iter=5).fit(X, y)
    contrast = nearest_other_class(clf, X)
    assert (contrast.labels != clf.predict(X)).all()
    np.testing.assert_allclose(contrast.contributions.sum(axis=1), contrast.distances**2, rtol=1e-9)
    assert prototypical_rows(clf).votes.sum() == pytest.approx(len(X))
    np.testing.assert_array_equal(influence(clf, None, X).predictions, clf.predict(X))
    np.testing.assert_allclose(local_matrices(clf, 0)[0], clf.components_.T @ clf.components_)

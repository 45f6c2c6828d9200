import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Perceptron, Ridge
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, save
from lann.reject import RejectOption


def accepted_on(reject, X):
    return reject.decision(X) == "accepted"


# Targets


@pytest.mark.parametrize("coverage", [0.7, 0.9, 1.0])
def test_coverage_is_reached_on_held_out_rows(quick, cancer, coverage):
    X, y, X_test, _ = cancer
    reject = RejectOption(quick, coverage=coverage, cv=3, random_state=0).fit(X, y)
    assert coverage <= reject.coverage_ <= coverage + 0.02
    assert accepted_on(reject, X_test).mean() == pytest.approx(coverage, abs=0.08)


@pytest.mark.parametrize("risk", [0.0, 0.01, 0.03])
def test_risk_is_kept_on_held_out_rows(quick, cancer, risk):
    X, y, _, _ = cancer
    reject = RejectOption(quick, risk=risk, cv=3, random_state=0).fit(X, y)
    assert reject.risk_ <= risk
    assert reject.coverage_ > 0.3


def test_the_lower_the_cost_the_more_rows_are_rejected(quick, cancer):
    X, y, _, _ = cancer
    reject = RejectOption(quick, cv=3, novelty_share=0, random_state=0).fit(X, y)
    coverages = [reject.with_target(cost=cost).coverage_ for cost in (0.0, 0.05, 0.2, 0.5, 1.0)]
    assert coverages == sorted(coverages)
    assert coverages[-1] == 1.0
    assert coverages[0] < 0.99


def test_another_target_needs_no_fit(quick, cancer):
    X, y, X_test, _ = cancer
    reject = RejectOption(quick, by="class", cv=3, random_state=0).fit(X, y)
    other = reject.with_target(coverage=0.8)
    again = RejectOption(quick, coverage=0.8, by="class", cv=3, random_state=0).fit(X, y)
    np.testing.assert_array_equal(other.thresholds_, again.thresholds_)
    np.testing.assert_array_equal(other.decision(X_test), again.decision(X_test))
    assert other.estimator_ is reject.estimator_
    assert reject.target_.kind == "cost"


def test_errors_are_rejected_before_correct_rows(quick, cancer):
    X, y, X_test, y_test = cancer
    reject = RejectOption(quick, coverage=0.9, cv=5, random_state=0).fit(X, y)
    wrong = reject.classes_[reject.predict_proba(X_test).argmax(axis=1)] != y_test
    accepted = accepted_on(reject, X_test)
    assert wrong[accepted].mean() < 0.6 * wrong.mean()


# Thresholds of classes and regions


def risks_at_coverages(reject, X, y):
    """Return the risks on rows of thresholds learned for several coverages, without far rows."""
    wrong = reject.classes_[reject.predict_proba(X).argmax(axis=1)] != y
    risks = []
    for coverage in (0.6, 0.7, 0.8, 0.9):
        accepted = accepted_on(reject.with_target(coverage=coverage), X)
        assert abs(accepted.mean() - coverage) < 0.1
        risks.append(wrong[accepted].mean())
    return np.mean(risks)


def mean_risks(estimator, make, kinds, **parameters):
    """Return the mean risk by kind of thresholds over two generated data sets."""
    risks = {by: [] for by in kinds}
    for seed in (2, 3):
        X, y = make(600, seed)
        X_test, y_test = make(2000, seed + 100)
        for by in kinds:
            reject = RejectOption(estimator, by=by, novelty_share=0, cv=3, random_state=0, **parameters)
            risks[by].append(risks_at_coverages(reject.fit(X, y), X_test, y_test))
    return {by: np.mean(found) for by, found in risks.items()}


def test_thresholds_of_classes_and_regions_help_where_classes_differ_in_noise(make_noisy_class):
    estimator = LANNClassifier(n_neighbors=7, power=3.0, max_iter=1, random_state=0)
    means = mean_risks(estimator, make_noisy_class, ("global", "class", "local"))
    assert means["class"] < 0.9 * means["global"]
    assert means["local"] < 0.9 * means["global"]


def test_without_a_difference_there_is_one_threshold(linear):
    n_thresholds = []
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, 2))
        y = (X[:, 0] + 0.5 * rng.normal(size=400) > 0).astype(int)
        reject = RejectOption(linear, coverage=0.8, by="class", novelty_share=0, random_state=0).fit(X, y)
        n_thresholds.append(len(set(reject.thresholds_)))
    assert sorted(n_thresholds)[:5] == [1] * 5


@pytest.mark.parametrize("thresholds", ["greedy", "exact"])
def test_exact_and_greedy_thresholds(make_noisy_class, quick, thresholds):
    X, y = make_noisy_class(400, 0)
    reject = RejectOption(quick, coverage=0.75, by="class", thresholds=thresholds, cv=2, random_state=0)
    reject.fit(X, y)
    assert 0.75 <= reject.coverage_ < 0.8
    other = RejectOption(quick, coverage=0.75, by="class", thresholds="exact", cv=2, random_state=0).fit(X, y)
    assert other.risk_ <= reject.risk_ + 1e-12


# Novelty


def test_rows_far_outside_are_far(quick, cancer):
    X, y, X_test, _ = cancer
    reject = RejectOption(quick, cv=3, novelty_share=0.05, random_state=0).fit(X, y)
    assert (reject.decision(X_test * 30) == "far").mean() > 0.99
    assert (reject.decision(np.full((3, 8), 1e55)) == "far").all()
    assert (reject.decision(X_test) == "far").mean() < 0.12


def test_values_that_do_not_belong_together_are_far(linear):
    rng = np.random.default_rng(0)
    first = rng.normal(size=400)
    X = np.column_stack([first, first + 0.05 * rng.normal(size=400)])
    reject = RejectOption(linear, cv=2, novelty_share=0.05, random_state=0).fit(X, (first > 0).astype(int))
    # Each value is usual by itself.
    assert (reject.decision(np.column_stack([X[:50, 0], -X[:50, 0]])) == "far").mean() > 0.8


def test_far_rows_can_be_switched_off(quick, iris):
    X, y = iris
    reject = RejectOption(quick, cv=2, novelty_share=0, random_state=0).fit(X, y)
    assert set(reject.decision(X * 1000)) <= {"accepted", "ambiguous"}
    assert reject.novelty_threshold_ == np.inf


def test_far_rows_count_in_the_coverage(quick, cancer):
    X, y, _, _ = cancer
    reject = RejectOption(quick, coverage=0.9, novelty_share=0.05, cv=3, random_state=0).fit(X, y)
    far = reject.held_out_.novelties > reject.novelty_threshold_
    assert 0.02 < far.mean() <= 0.05
    assert 0.9 <= reject.coverage_ < 0.92
    all_of_them = reject.with_target(coverage=1.0)
    assert all_of_them.coverage_ == 1.0
    assert all_of_them.novelty_threshold_ == np.inf


def test_novelty_as_certainty(quick, iris):
    X, y = iris
    reject = RejectOption(quick, certainty="novelty", coverage=0.8, cv=2, random_state=0).fit(X, y)
    np.testing.assert_array_equal(reject.certainties(X), -reject.novelties(X))
    # Training rows are near themselves; held-out rows have a median of 1 in the part that counts.
    assert np.median(reject.held_out_.novelties) == pytest.approx(1, rel=0.5)
    assert np.median(reject.novelties(X)) < 0.5


# Certainties


@pytest.mark.parametrize("certainty", ["probability", "margin", "combined"])
def test_certainties_of_held_out_rows_are_those_of_their_folds(linear, iris, certainty):
    X, y = iris
    reject = RejectOption(linear, certainty=certainty, cv=3, random_state=0).fit(X, y)
    held_out = reject.held_out_
    np.testing.assert_array_equal(held_out.rows, np.arange(len(y)))
    np.testing.assert_array_equal(held_out.y_true, y)
    assert len(held_out.certainties) == len(held_out.groups) == len(y)
    assert np.corrcoef(held_out.certainties, reject.certainties(X))[0, 1] > 0.9
    assert not np.array_equal(held_out.certainties, reject.certainties(X))


# Held-out rows


def test_folds_leave_out_the_row(iris):
    X, y = iris
    reject = RejectOption(RandomForestClassifier(10, random_state=0), cv=5, random_state=0).fit(X, y)
    trained = (reject.estimator_.predict(X) != y).mean()
    held_out = (reject.held_out_.y_pred != reject.held_out_.y_true).mean()
    assert trained < held_out


def test_a_held_back_part(quick, iris):
    X, y = iris
    reject = RejectOption(quick, cv=0.3, random_state=0).fit(X, y)
    rows = reject.held_out_.rows
    assert len(rows) == 45
    assert len(reject.estimator_.model_.X) == 105
    trained_on = {tuple(row) for row in reject.estimator_.model_.X}
    assert sum(tuple(X[row]) in trained_on for row in rows) < 5  # copies


def test_a_fitted_estimator(quick, cancer):
    X, y, X_test, y_test = cancer
    fitted = clone(quick).fit(X, y)
    reject = RejectOption(fitted, cv="prefit", coverage=0.9, random_state=0).fit(X_test, y_test)
    assert reject.estimator_ is fitted
    np.testing.assert_array_equal(reject.held_out_.y_pred, fitted.predict(X_test))
    np.testing.assert_allclose(reject.certainties(X_test), reject.held_out_.certainties)
    assert reject.coverage_ == pytest.approx(0.9, abs=0.02)


def test_labels_that_a_fitted_estimator_does_not_know_are_errors(linear, iris):
    X, y = iris
    fitted = linear.fit(X[y < 2], y[y < 2])
    reject = RejectOption(fitted, cv="prefit", novelty_share=0, random_state=0).fit(X, y)
    held_out = reject.held_out_
    assert (held_out.y_true != held_out.y_pred)[y == 2].all()
    assert reject.classes_.tolist() == [0, 1]


CHANGES = {
    "forget": lambda clf, X, y: clf.forget(range(80)),
    "partial_fit": lambda clf, X, y: clf.partial_fit(X[:90], y[:90]),
    "one for another": lambda clf, X, y: clf.partial_fit(X[:1], y[:1]).forget(0),
    "fit": lambda clf, X, y: clf.fit(X, y),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_classifier_that_changes_later(quick, cancer, tmp_path, change):
    X, y, X_test, y_test = cancer
    clf = clone(quick).fit(X, y)
    reject = RejectOption(clf, cv="prefit", coverage=0.9, by="local", random_state=0).fit(X_test, y_test)
    CHANGES[change](clf, X, y)
    uses = [reject.predict, reject.decision, reject.reasons, reject.certainties, reject.explain]
    uses += [lambda X: save(reject, tmp_path / "changed.lann"), lambda X: reject.with_target(cost=0.1)]
    for use in uses:
        with pytest.raises(ValueError, match=r"^The classifier has changed since .* again\.$"):
            use(X_test)
    assert reject.predict_proba(X_test).shape == (len(X_test), 2)
    assert (reject.fit(X_test, y_test).decision(X_test) == "accepted").any()


def test_no_label_is_known_to_a_fitted_estimator(quick, iris):
    X, y = iris
    with pytest.raises(ValueError, match=r"^No label of y is a class of the classifier: y has .*\.$"):
        RejectOption(clone(quick).fit(X, y), cv="prefit").fit(X, y.astype(str))


def test_held_out_rows_are_predicted_by_the_same_vote():
    """Folds that have chosen other votes give the certainties of folds with the vote of all rows."""
    X = np.random.default_rng(0).normal(size=(80, 2))
    y = (X[:, 0] > 0).astype(int)
    final = LANNClassifier(9, max_iter=1, random_state=0).fit(X, y)
    halves, certainties = (np.arange(0, 80, 2), np.arange(1, 80, 2)), []
    for k in (3, 9):
        folds = [
            (LANNClassifier(k, max_iter=0, random_state=0).fit(X[train], y[train]), train, held_out)
            for train, held_out in (halves, halves[::-1])
        ]
        reject = RejectOption.from_folds(final, X, y, folds, coverage=0.8, random_state=0)
        certainties.append(reject.held_out_.certainties)
    np.testing.assert_allclose(*certainties)


def test_folds_of_a_cross_validation_are_used_as_they_are(quick, cancer):
    X, y, X_test, _ = cancer
    splits = list(StratifiedKFold(3).split(X, y))
    folds = [(clone(quick).fit(X[train], y[train]), train, held) for train, held in splits]
    final = clone(quick).fit(X, y)
    reject = RejectOption.from_folds(final, X, y, folds, coverage=0.9, random_state=0)
    assert reject.estimator_ is final
    for estimator, _, held in folds:
        expected = estimator.with_vote(final.vote_).predict(X[held])
        np.testing.assert_array_equal(reject.held_out_.y_pred[held], expected)
    assert set(reject.decision(X_test)) <= {"accepted", "ambiguous", "far"}


def test_weights_are_split_with_the_rows_and_weight_0_is_left_out(iris):
    X, y = iris
    weights = np.ones(150)
    weights[::3] = 0
    estimator = LANNClassifier(max_iter=0, random_state=0)
    weighted = RejectOption(estimator, cv=2, random_state=0).fit(X, y, sample_weight=weights)
    without = RejectOption(estimator, cv=2, random_state=0).fit(X[weights > 0], y[weights > 0])
    np.testing.assert_array_equal(weighted.decision(X), without.decision(X))
    assert len(weighted.held_out_.rows) == 100
    pipeline = make_pipeline(StandardScaler(), estimator)
    fitted = RejectOption(pipeline, cv=2).fit(X, y, lannclassifier__sample_weight=np.arange(1.0, 151))
    assert fitted.estimator_[-1].model_.row_weights is not None


# What is returned


def test_decisions_reasons_and_labels_agree(quick, cancer):
    X, y, X_test, _ = cancer
    reject = RejectOption(quick, coverage=0.8, novelty_share=0.05, by="class", cv=3, random_state=0).fit(X, y)
    queries = np.concatenate([X_test, X_test[:5] * 50])
    decisions, labels, reasons = reject.decision(queries), reject.predict(queries), reject.reasons(queries)
    assert set(decisions) == {"accepted", "ambiguous", "far"}
    np.testing.assert_array_equal(labels == -1, decisions != "accepted")
    predicted = reject.classes_[reject.predict_proba(queries).argmax(axis=1)]
    np.testing.assert_array_equal(labels[decisions == "accepted"], predicted[decisions == "accepted"])
    for row, reason in enumerate(reasons):
        assert reason.decision == decisions[row]
        assert reason.region == predicted[row]
        assert reason.threshold == reject.thresholds_[predicted[row]]
        assert (reason.novelty > reason.novelty_threshold) == (reason.decision == "far")
        if reason.decision != "far":
            assert (reason.certainty < reason.threshold) == (reason.decision == "ambiguous")


def test_markers_of_text_and_negative_labels(quick, iris):
    X, y = iris
    words = np.array(["setosa", "versicolor", "virginica"])[y]
    far = X[:1] * 100
    assert RejectOption(quick, cv=2, random_state=0).fit(X, words).predict(far).tolist() == ["rejected"]
    assert RejectOption(quick, cv=2, random_state=0).fit(X, y - 1).predict(far).tolist() == [-2]
    own = RejectOption(quick, cv=2, reject_label="?", random_state=0).fit(X, y)
    assert own.predict(far).tolist() == ["?"]


def test_tables_with_categories_and_gaps():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"size": rng.normal(size=200), "color": rng.choice(["red", "blue"], 200)})
    table.loc[::6, "size"] = np.nan
    y = np.where((table["size"].fillna(0) > 0) ^ (table["color"] == "red"), "yes", "no")
    reject = RejectOption(LANNClassifier(max_iter=2, random_state=0), by="local", cv=2, random_state=0)
    reject.fit(table, y)
    assert list(reject.feature_names_in_) == ["size", "color"]
    queries = table[:3].copy()
    queries.loc[0, "size"], queries.loc[1, "color"] = 40.0, "green"
    assert reject.decision(queries)[0] == "far"
    novelties = reject.novelties(queries)
    assert novelties[1] > novelties[2]
    assert (reject.explain(queries).decisions[0].decision, len(reject.explain(queries))) == ("far", 3)


def test_pipelines_have_neighbors_after_their_transforms(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), LANNClassifier(max_iter=1, random_state=0))
    reject = RejectOption(pipeline, cv=2, coverage=0.9, by="local", random_state=0).fit(X * 7 + 3, y)
    assert reject.reader_.model is not None
    assert (reject.decision(X * 700) == "far").mean() > 0.9
    assert accepted_on(reject, X * 7 + 3).mean() > 0.8


def test_same_bits_in_pickles_clones_and_with_threads(quick, cancer):
    X, y, X_test, _ = cancer
    reject = RejectOption(quick, by="local", coverage=0.9, cv=3, random_state=3).fit(X, y)
    others = [pickle.loads(pickle.dumps(reject)), clone(reject).fit(X, y), clone(reject).set_params(n_jobs=2)]
    others[2].fit(X, y)
    for other in others:
        np.testing.assert_array_equal(other.thresholds_, reject.thresholds_)
        np.testing.assert_array_equal(other.certainties(X_test), reject.certainties(X_test))
        np.testing.assert_array_equal(other.decision(X_test), reject.decision(X_test))


# Bad input


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"cost": 0.1, "coverage": 0.9}, "At most one of cost, coverage and risk can be given; got cost=0.1"),
        ({"coverage": 1.5}, "coverage must be a number of at least 0 and at most 1"),
        ({"by": "row"}, "by must be one of 'global', 'class', 'local'; got 'row'"),
        ({"cv": "fitted"}, "cv must be"),
        ({"reject_label": 1}, "1 is one of the classes; give another reject_label"),
        ({"estimator": Ridge()}, "estimator must be a classifier with predict_proba"),
        ({"estimator": Perceptron()}, "estimator must be a classifier with predict_proba"),
        ({"estimator": LANNClassifier}, "estimator must be a classifier with predict_proba"),
    ],
)
def test_invalid_parameters_are_one_sentence(quick, iris, parameters, message):
    with pytest.raises(ValueError, match=message) as raised:
        RejectOption(**{"estimator": quick, "random_state": 0} | parameters).fit(*iris)
    assert "\n" not in str(raised.value)


def test_an_estimator_that_is_not_fitted(quick, iris):
    with pytest.raises(NotFittedError):
        RejectOption(quick, cv="prefit").fit(*iris)
    with pytest.raises(NotFittedError):
        RejectOption(quick).decision(iris[0])


def test_explanations_need_a_classifier_with_explanations(linear, iris):
    reject = RejectOption(linear, cv=2).fit(*iris)
    with pytest.raises(ValueError, match="LogisticRegression has no explanations"):
        reject.explain(iris[0])

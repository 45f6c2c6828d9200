"""What `fit` learns, and what its parameters change."""

import numpy as np
import pytest

from lann import LANNClassifier


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 4} | options))


def log_weights(clf, X):
    """Return log w of every row, from the feature weights w (φ' scale)²."""
    scale = 1.0 if clf.curves_.is_identity else X.std(axis=0)
    return np.log(clf.feature_weights_ / (clf.curves_.mean_slopes_at(X) * scale) ** 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"levels": ("class",)},
        {"levels": ("point",)},
        {"n_candidates": None},
        {"metric": "full"},
    ],
)
def test_the_loss_falls(blobs, options):
    X, y = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    unregularized = {
        "max_iter": 6,
        "smoothing": 0.0,
        "candidate_dropout": 0.0,
        "feature_dropout": 0.0,
        "alpha": 0.0,
    }
    clf = clf_of(**options, **unregularized).fit(X, y)
    assert clf.n_iter_ == len(clf.loss_curve_) == 6
    assert np.all(np.isfinite(clf.loss_curve_))
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]


def test_smoothing_does_not_undo_what_was_learned(blobs):
    X, y = blobs
    clf = clf_of(levels=("point",), max_iter=6, candidate_dropout=0.0, feature_dropout=0.0, alpha=0.0).fit(
        X, y
    )
    assert clf.loss_curve_[-1] < 1.1 * min(clf.loss_curve_)


def test_shared_levels_are_learned_before_point_metrics(iris, capsys):
    clf = clf_of(max_iter=None, verbose=1).fit(*iris)
    assert clf.n_iter_ == 14
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14
    assert lines[0].startswith("[LANNClassifier] epoch 1/14, shared levels: loss ")
    assert "epoch 14/14, point weights: loss" in lines[-1]


def test_it_prints_nothing_by_default(iris, capsys):
    clf_of(max_iter=1).fit(*iris)
    assert capsys.readouterr().out == ""


def test_validation_losses_are_printed(iris, capsys):
    clf_of(max_iter=1, early_stopping=True, verbose=1).fit(*iris)
    assert "validation loss" in capsys.readouterr().out


class TestLevels:
    def test_without_curves_they_stay_the_identity(self, wine):
        X, y = wine
        clf = clf_of(levels=("class", "point")).fit(X, y)
        assert clf.curves_.is_identity
        np.testing.assert_array_equal(clf.curves_.transform(X), X)

    def test_without_class_metrics_all_classes_measure_alike(self, wine):
        X, y = wine
        clf = clf_of(levels=("curves",)).fit(X, y)
        assert not clf.curves_.is_identity
        np.testing.assert_allclose(log_weights(clf, X), 0, atol=1e-9)

    def test_without_point_metrics_the_rows_of_a_class_measure_alike(self, wine):
        X, y = wine
        clf = clf_of(levels=("curves", "class")).fit(X, y)
        learned = log_weights(clf, X)
        assert np.abs(learned).max() > 1e-3
        for label in range(3):
            assert np.ptp(learned[y == label], axis=0).max() < 1e-9

    def test_point_metrics_alone(self, wine):
        X, y = wine
        clf = clf_of(levels=("point",)).fit(X, y)
        assert clf.curves_.is_identity
        assert np.ptp(clf.feature_weights_[y == 0], axis=0).max() > 1e-3

    def test_no_level_learns_nothing(self, wine):
        clf = clf_of(levels=()).fit(*wine)
        assert clf.n_iter_ == 0
        np.testing.assert_array_equal(clf.feature_weights_, 1.0)

    @pytest.mark.parametrize("levels", [["point"], ("point", "point")])
    def test_levels_may_be_a_list(self, wine, levels):
        clf = clf_of(levels=levels).fit(*wine)
        assert clf.curves_.is_identity


@pytest.mark.parametrize("learning_rate", [0.1, 100.0])
def test_weights_stay_within_e_to_the_6(wine, learning_rate):
    X, y = wine
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    clf = clf_of(levels=("point",), learning_rate=learning_rate).fit(X, y)
    assert np.abs(np.log(clf.feature_weights_)).max() <= 6 + 1e-9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("options", [{}, {"levels": ("point",)}, {"metric": "full"}])
@pytest.mark.parametrize("learning_rate", [1e-300, 10.0, 1e4, 1e100])
def test_metrics_stay_finite_at_any_learning_rate(blobs, options, learning_rate):
    X, y = blobs
    X = np.concatenate([X, X[:5]])  # duplicates with other labels
    y = np.concatenate([y, (y[:5] + 1) % 3])
    clf = clf_of(learning_rate=learning_rate, max_iter=3, **options).fit(X, y)
    assert np.all(np.isfinite(clf.feature_weights_))
    assert np.all(clf.feature_weights_ >= 0)
    assert np.all(np.isfinite(clf.predict_proba(X)))
    assert clf.score(X, y) > 0.4


class TestEarlyStopping:
    @pytest.mark.parametrize("options", [{}, {"levels": ("point",)}])
    def test_it_ends_a_stage_and_keeps_its_best(self, wine, options):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(max_iter=80, early_stopping=True, validation_fraction=0.3, **options).fit(X, y)
        assert clf.n_iter_ < 80
        assert len(clf.validation_curve_) == len(clf.loss_curve_) == clf.n_iter_
        assert clf.score(X, y) > 0.9

    def test_the_best_epoch_is_kept_not_the_last(self, wine):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        levels = []
        # Steps far too large: the loss of the validation rows soon rises.
        clf = clf_of(
            levels=("point",), learning_rate=3.0, max_iter=8, early_stopping=True, validation_fraction=0.3
        )
        on_epoch_end = clf._on_epoch_end

        def record(epoch, progress):
            levels.append(epoch.levels().weights)
            return on_epoch_end(epoch, progress)

        clf._on_epoch_end = record
        clf.fit(X, y)
        kept = [np.allclose(weights, clf.feature_weights_) for weights in levels]
        best = int(np.argmin(clf.validation_curve_))
        assert best < len(levels) - 1
        assert kept[best]
        assert not kept[-1]

    def test_there_are_no_validation_rows_without_it(self, iris):
        assert clf_of().fit(*iris).validation_curve_ == []


class TestWarmStart:
    def test_it_continues_from_the_previous_fit(self, wine):
        X, y = wine
        cold = clf_of(max_iter=6, warm_start=True).fit(X, y)
        first = cold.loss_curve_[0]
        warm = cold.set_params(max_iter=2).fit(X, y)
        assert warm.loss_curve_[0] < first

    @pytest.mark.parametrize("options", [{}, {"levels": ("point",)}, {"levels": ("curves",)}])
    def test_the_same_rows_keep_their_metrics(self, wine, options):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(max_iter=7, warm_start=True, **options).fit(X, y)
        weights, probabilities = clf.feature_weights_.copy(), clf.predict_proba(X + 0.1)
        clf.set_params(max_iter=0).fit(X, y)
        np.testing.assert_allclose(clf.feature_weights_, weights, rtol=1e-5)
        np.testing.assert_allclose(clf.predict_proba(X + 0.1), probabilities, atol=1e-5)

    def test_without_it_a_second_fit_starts_anew(self, wine):
        clf = clf_of().fit(*wine)
        first = clf.feature_weights_.copy()
        np.testing.assert_array_equal(clf.fit(*wine).feature_weights_, first)

    def test_other_classes_raise(self, iris):
        X, y = iris
        clf = clf_of(warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="warm_start needs the classes of the previous fit"):
            clf.fit(X, y + 1)
        assert clf.score(X, y) > 0.9

    def test_another_number_of_features_raises(self, iris):
        X, y = iris
        clf = clf_of(warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            clf.fit(X[:, :2], y)


@pytest.mark.parametrize("options", [{}, {"levels": ("curves",)}])
def test_with_curves_units_do_not_matter(wine, options):
    X, y = wine
    scale = 2.0 ** np.arange(-6, 7)  # exact in float64
    one = clf_of(**options).fit(X[::2], y[::2])
    other = clf_of(**options).fit(X[::2] * scale, y[::2])
    np.testing.assert_array_equal(other.predict(X[1::2] * scale), one.predict(X[1::2]))
    np.testing.assert_allclose(other.predict_proba(X[1::2] * scale), one.predict_proba(X[1::2]), atol=1e-6)
    np.testing.assert_allclose(other.feature_weights_, one.feature_weights_, rtol=1e-5)


def test_with_curves_neither_unit_nor_origin_matters_to_predictions(wine):
    X, y = wine
    scale, shift = np.geomspace(1e-3, 1e3, 13), np.linspace(-20, 50, 13)
    one = clf_of().fit(X[::2], y[::2])
    other = clf_of().fit(X[::2] * scale + shift, y[::2])
    # Rounding may move a value across the edge between two bins of a curve.
    assert np.mean(other.predict(X[1::2] * scale + shift) == one.predict(X[1::2])) > 0.98


def test_more_regularization_keeps_curves_straighter(wine):
    X, y = wine
    deviations = []
    for alpha in (0.0, 1.0, 100.0):
        curves = clf_of(levels=("curves",), alpha=alpha).fit(X, y).curves_
        deviations.append(np.log(curves.slopes).std(axis=1).mean())
    assert deviations[0] > deviations[1] > deviations[2]


def test_dropout_and_smoothing_change_what_is_learned(wine):
    X, y = wine
    models = [
        clf_of(**options).fit(X, y).feature_weights_
        for options in (
            {},
            {"candidate_dropout": 0.0},
            {"feature_dropout": 0.0},
            {"smoothing": 0.5, "max_iter": 7},
        )
    ]
    for other in models[1:]:
        assert not np.allclose(models[0], other)


def test_changing_the_data_afterwards_does_not_change_the_model(wine):
    X, y = wine[0].copy(), wine[1].copy()
    clf = clf_of(levels=("point",)).fit(X, y)
    queries = wine[0] + 0.1
    expected = clf.predict_proba(queries)
    X[:] = 0
    y[:] = 0
    np.testing.assert_array_equal(clf.predict_proba(queries), expected)


def test_warm_start_drops_a_level_that_is_switched_off(wine):
    clf = clf_of(warm_start=True, max_iter=3).fit(*wine)
    clf.set_params(levels=("point",)).fit(*wine)
    assert clf.curves_.is_identity
    assert not clf.model_.levels.class_log_weights.any()


def test_every_level_gets_an_epoch_if_there_are_two(wine):
    clf = clf_of(max_iter=2).fit(*wine)
    assert not clf.curves_.is_identity
    assert clf.model_.levels.point_log_weights.any()


def test_a_constant_feature_neither_counts_nor_decides(iris):
    X, y = iris
    X = np.column_stack([X, np.full(len(X), 5.0)])
    clf = clf_of(max_iter=3).fit(X, y)
    assert np.all(clf.feature_weights_[:, -1] == 0)
    elsewhere = X.copy()
    elsewhere[:, -1] = 500.0
    np.testing.assert_array_equal(clf.predict_proba(elsewhere), clf.predict_proba(X))


def test_numpy_bools_are_bools(iris):
    clf = clf_of(max_iter=1, early_stopping=np.True_, warm_start=np.False_, verbose=np.False_).fit(*iris)
    assert len(clf.validation_curve_) == 1

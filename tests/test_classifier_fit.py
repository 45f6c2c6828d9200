"""What `fit` learns, and how each of its switches shows."""

import numpy as np
import pytest

from lann import LANNClassifier


def clf_of(**options):
    return LANNClassifier(**({"random_state": 0, "max_iter": 4} | options))


def log_weights(clf, X):
    """log w of every point, from the relevances w (φ' scale)²."""
    scale = 1.0 if clf.curves_.is_identity else X.std(axis=0)
    return np.log(clf.feature_weights_ / (clf.curves_.slopes_at(X) * scale) ** 2)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "softmax"},
        {"levels": ("class",)},
        {"levels": ("point",)},
        {"levels": ("point",), "solver": "online"},
        {"solver": "online", "n_candidates": None},
        {"n_bins": 1},
    ],
)
def test_the_loss_falls(blobs, options):
    X, y = blobs
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    unrestrained = {
        "max_iter": 6,
        "smoothing": 0.0,
        "candidate_dropout": 0.0,
        "feature_dropout": 0.0,
        "alpha": 0.0,
    }
    clf = clf_of(**options, **unrestrained).fit(X, y)
    assert clf.n_iter_ == len(clf.loss_curve_) == 6
    assert np.all(np.isfinite(clf.loss_curve_))
    assert clf.loss_curve_[-1] < clf.loss_curve_[0]


def test_smoothing_does_not_undo_what_was_learned(blobs):
    X, y = blobs
    clf = clf_of(levels=("point",), max_iter=6, candidate_dropout=0.0, feature_dropout=0.0, alpha=0.0).fit(
        X, y
    )
    assert clf.loss_curve_[-1] < 1.1 * min(clf.loss_curve_)


def test_by_default_shared_levels_come_before_points(iris, capsys):
    clf = clf_of(max_iter=None, verbose=1).fit(*iris)
    assert clf.n_iter_ == 14
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == 14
    assert lines[0].startswith("[LANNClassifier] epoch 1/14, what all points share: loss ")
    assert "epoch 14/14, point weights: loss" in lines[-1]


def test_it_is_quiet_unless_asked(iris, capsys):
    clf_of(max_iter=1).fit(*iris)
    assert capsys.readouterr().out == ""


def test_held_out_losses_are_printed(iris, capsys):
    clf_of(max_iter=1, early_stopping=True, verbose=1).fit(*iris)
    assert "held-out loss" in capsys.readouterr().out


class TestLevels:
    def test_without_curves_they_stay_the_identity(self, wine):
        X, y = wine
        clf = clf_of(levels=("class", "point")).fit(X, y)
        assert clf.curves_.is_identity
        np.testing.assert_array_equal(clf.curves_.transform(X), X)

    def test_without_class_weights_the_classes_measure_alike(self, wine):
        X, y = wine
        clf = clf_of(levels=("curves",)).fit(X, y)
        assert not clf.curves_.is_identity
        np.testing.assert_allclose(log_weights(clf, X), 0, atol=1e-9)

    def test_without_point_weights_the_points_of_a_class_measure_alike(self, wine):
        X, y = wine
        clf = clf_of(levels=("curves", "class")).fit(X, y)
        learned = log_weights(clf, X)
        assert np.abs(learned).max() > 1e-3
        for label in range(3):
            assert np.ptp(learned[y == label], axis=0).max() < 1e-9

    def test_point_weights_alone(self, wine):
        X, y = wine
        clf = clf_of(levels=("point",)).fit(X, y)
        assert clf.curves_.is_identity
        assert np.ptp(clf.feature_weights_[y == 0], axis=0).max() > 1e-3

    def test_no_level_learns_nothing(self, wine):
        clf = clf_of(levels=()).fit(*wine)
        assert clf.n_iter_ == 0
        np.testing.assert_array_equal(clf.feature_weights_, 1.0)

    @pytest.mark.parametrize("levels", [["point"], ("point", "point")])
    def test_a_list_will_do(self, wine, levels):
        clf = clf_of(levels=levels).fit(*wine)
        assert clf.curves_.is_identity

    @pytest.mark.parametrize("n_bins", [1, 2, 16, 256])
    def test_curves_have_the_bins_asked_for(self, wine, n_bins):
        clf = clf_of(levels=("curves",), n_bins=n_bins, max_iter=1).fit(*wine)
        assert clf.curves_.n_bins == n_bins
        assert np.all(clf.curves_.slopes > 0)


class TestConstraint:
    @pytest.mark.parametrize("solver", ["staged", "online"])
    def test_norm_keeps_the_sum_of_the_weights(self, wine, solver):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(levels=("point",), constraint="norm", solver=solver).fit(X, y)
        np.testing.assert_allclose(clf.feature_weights_.sum(axis=1), 13, rtol=1e-9)
        assert np.ptp(clf.feature_weights_) > 0.01

    @pytest.mark.parametrize(
        "levels", [("class",), ("class", "point"), ("curves", "class"), ("curves", "class", "point")]
    )
    def test_norm_is_kept_whatever_is_learned(self, wine, levels):
        X, y = wine
        clf = clf_of(levels=levels, constraint="norm").fit(X, y)
        np.testing.assert_allclose(np.exp(log_weights(clf, X)).sum(axis=1), 13, rtol=1e-9)

    def test_norm_is_kept_by_points_that_join(self, wine):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(levels=("point",), constraint="norm").fit(X[::2], y[::2])
        clf.partial_fit(X[1::2], y[1::2])
        np.testing.assert_allclose(clf.feature_weights_.sum(axis=1), 13, rtol=1e-9)

    @pytest.mark.parametrize("solver", ["staged", "online"])
    @pytest.mark.parametrize("learning_rate", [0.1, 100.0])
    def test_bounded_keeps_weights_within_e_to_the_6(self, wine, solver, learning_rate):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(levels=("point",), solver=solver, learning_rate=learning_rate).fit(X, y)
        assert np.abs(np.log(clf.feature_weights_)).max() <= 6 + 1e-9


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("options", [{}, {"levels": ("point",)}, {"levels": ("point",), "solver": "online"}])
@pytest.mark.parametrize("learning_rate", [1e-300, 10.0, 1e4, 1e100])
def test_metrics_stay_finite_at_any_learning_rate(blobs, options, learning_rate):
    X, y = blobs
    X = np.concatenate([X, X[:5]])  # twins with other labels
    y = np.concatenate([y, (y[:5] + 1) % 3])
    clf = clf_of(learning_rate=learning_rate, max_iter=3, **options).fit(X, y)
    assert np.all(np.isfinite(clf.feature_weights_))
    assert np.all(clf.feature_weights_ >= 0)
    assert np.all(np.isfinite(clf.predict_proba(X)))
    assert clf.score(X, y) > 0.4


class TestEarlyStopping:
    @pytest.mark.parametrize(
        "options", [{}, {"levels": ("point",)}, {"levels": ("point",), "solver": "online"}]
    )
    def test_it_ends_a_stage_and_keeps_its_best(self, wine, options):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(
            max_iter=60, early_stopping=True, n_iter_no_change=2, validation_fraction=0.3, **options
        ).fit(X, y)
        assert clf.n_iter_ < 60
        assert len(clf.validation_curve_) == len(clf.loss_curve_) == clf.n_iter_
        assert clf.score(X, y) > 0.9

    def test_the_best_epoch_is_kept_not_the_last(self, wine):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        snapshots = []
        # Steps far too large: the loss of held-out queries soon rises.
        clf = clf_of(
            levels=("point",), learning_rate=3.0, max_iter=8, n_iter_no_change=8, early_stopping=True,
            validation_fraction=0.3,
        )  # fmt: skip
        hear = clf._hear

        def listen(epoch, progress):
            snapshots.append(epoch.snapshot().weights)
            return hear(epoch, progress)

        clf._hear = listen
        clf.fit(X, y)
        kept = [np.allclose(weights, clf.feature_weights_) for weights in snapshots]
        best = int(np.argmin(clf.validation_curve_))
        assert best < len(snapshots) - 1
        assert kept[best]
        assert not kept[-1]

    def test_without_it_nothing_is_held_out(self, iris):
        assert clf_of().fit(*iris).validation_curve_ == []


class TestWarmStart:
    def test_it_goes_on_where_it_was(self, wine):
        X, y = wine
        cold = clf_of(max_iter=6, warm_start=True).fit(X, y)
        first = cold.loss_curve_[0]
        warm = cold.set_params(max_iter=2).fit(X, y)
        assert warm.loss_curve_[0] < first

    @pytest.mark.parametrize(
        "options", [{}, {"levels": ("point",)}, {"n_bins": 1}, {"levels": ("curves",), "n_bins": 1}]
    )
    def test_the_same_points_get_their_own_metrics_back(self, wine, options):
        X, y = wine
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        clf = clf_of(max_iter=7, warm_start=True, **options).fit(X, y)
        relevances, probabilities = clf.feature_weights_.copy(), clf.predict_proba(X + 0.1)
        clf.set_params(max_iter=0).fit(X, y)
        np.testing.assert_allclose(clf.feature_weights_, relevances, rtol=1e-5)
        np.testing.assert_allclose(clf.predict_proba(X + 0.1), probabilities, atol=1e-5)

    def test_without_it_a_second_fit_starts_afresh(self, wine):
        clf = clf_of().fit(*wine)
        first = clf.feature_weights_.copy()
        np.testing.assert_array_equal(clf.fit(*wine).feature_weights_, first)

    def test_other_classes_are_refused(self, iris):
        X, y = iris
        clf = clf_of(warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="warm_start needs the classes of the earlier fit"):
            clf.fit(X, y + 1)
        assert clf.score(X, y) > 0.9

    def test_another_number_of_features_is_refused(self, iris):
        X, y = iris
        clf = clf_of(warm_start=True).fit(X, y)
        with pytest.raises(ValueError, match="features"):
            clf.fit(X[:, :2], y)


@pytest.mark.parametrize("options", [{}, {"n_bins": 1}, {"levels": ("curves",)}, {"loss": "softmax"}])
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
    # Rounding may now move a value that lies on the edge between two stretches of a curve.
    assert np.mean(other.predict(X[1::2] * scale + shift) == one.predict(X[1::2])) > 0.98


def test_more_penalty_keeps_curves_straighter(wine):
    X, y = wine
    bends = []
    for penalty in (0.0, 1.0, 100.0):
        curves = clf_of(levels=("curves",), alpha=penalty).fit(X, y).curves_
        bends.append(np.log(curves.slopes).std(axis=1).mean())
    assert bends[0] > bends[1] > bends[2]


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


def test_a_temperature_is_chosen_where_none_is_given(wine):
    X, y = wine
    assert clf_of(loss="softmax").fit(X, y).temperature_ > 0
    assert clf_of(loss="softmax", temperature=3.0).fit(X, y).temperature_ == 3.0
    assert not hasattr(clf_of().fit(X, y), "temperature_")


def test_changing_the_data_afterwards_does_not_change_the_model(wine):
    X, y = wine[0].copy(), wine[1].copy()
    clf = clf_of(levels=("point",)).fit(X, y)
    queries = wine[0] + 0.1
    expected = clf.predict_proba(queries)
    X[:] = 0
    y[:] = 0
    np.testing.assert_array_equal(clf.predict_proba(queries), expected)


def test_warm_start_leaves_out_a_level_that_is_switched_off(wine):
    clf = clf_of(warm_start=True, max_iter=3).fit(*wine)
    clf.set_params(levels=("point",)).fit(*wine)
    assert clf.curves_.is_identity
    assert not clf._model.levels.class_log_weights.any()


def test_every_level_gets_an_epoch_if_there_are_two(wine):
    clf = clf_of(max_iter=2).fit(*wine)
    assert not clf.curves_.is_identity
    assert clf._model.levels.point_log_weights.any()


def test_held_out_queries_of_the_online_solver_ask_their_shortlists(wine):
    """What is measured after an epoch is the model as it is then, not as it was first lifted."""
    X, y = wine
    clf = clf_of(
        solver="online", levels=("point",), early_stopping=True, n_iter_no_change=50, max_iter=6,
        learning_rate=0.5, n_candidates=20,
    ).fit((X - X.mean(axis=0)) / X.std(axis=0), y)  # fmt: skip
    assert len(set(clf.validation_curve_)) == 6
    assert min(clf.validation_curve_) < clf.validation_curve_[0]


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


def test_many_epochs_are_drawn_in_linear_time():
    from lann.training.queries import QueryStream

    stream = QueryStream(np.arange(10), np.random.default_rng(0))
    taken = stream.take(200_005)
    assert np.all(np.bincount(taken[:200_000]) == 20_000)
    assert len(stream.take(5)) == 5

import numpy as np
import pandas as pd
import pytest
from matplotlib.colors import to_hex
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier
from lann._support.format import percent
from lann.plot import ExplanationDisplay, class_colors


def bars(ax):
    """Return the starts and the lengths of horizontal bars."""
    return np.array([(patch.get_x(), patch.get_width()) for patch in ax.patches]).T


def names(ax):
    return [text.get_text() for text in ax.get_yticklabels()]


def lowest(explanation):
    """Return the row in which a value speaks most against the prediction, and the class of this."""
    predicted = np.searchsorted(explanation.classes, explanation.predictions)
    own = explanation.supports[np.arange(len(explanation)), predicted]
    row = int(own.min(axis=1).argmin())
    return row, predicted[row]


def test_bars_add_up_from_the_base_value_to_the_probability(binary_clf, breast_cancer, assert_legible):
    X, _ = breast_cancer
    explanation = binary_clf.explain(X)
    row, predicted = lowest(explanation)
    display = ExplanationDisplay.from_explanation(explanation, row=row, n_features=6)
    base, probability = explanation.base_values[row, predicted], explanation.probabilities[row, predicted]
    starts, lengths = bars(display.ax_)
    np.testing.assert_allclose(lengths[[0, -1]], [base, probability], atol=1e-12)
    np.testing.assert_allclose(starts[1:-1], np.cumsum(lengths)[:-2], atol=1e-12)
    assert lengths[:-1].sum() == pytest.approx(probability, abs=1e-12)
    lines = names(display.ax_)
    assert lines[0] == "base value (nothing known)"
    assert lines[-2:] == ["24 other features", "this row"]
    texts = [text.get_text() for text in display.ax_.texts]
    assert texts[0] == percent(base)
    assert texts[-1] == percent(probability)
    assert f"probability of {explanation.predictions[row]}" in display.ax_.get_xlabel()
    assert f"probability {probability:.0%}" in display.figure_.get_suptitle()
    assert_legible(display.figure_)


def test_bars_have_the_colors_of_the_classes(binary_clf, clf, breast_cancer, iris_frame):
    explanation = binary_clf.explain(breast_cancer[0])
    row, predicted = lowest(explanation)
    display = ExplanationDisplay.from_explanation(explanation, row=row)
    own, other = np.roll(class_colors(2), -predicted)
    for patch in display.ax_.patches[1:-1]:  # between the base value and the sum
        assert to_hex(patch.get_facecolor()).upper() == (own if patch.get_width() > 0 else other)
    display = ExplanationDisplay.from_estimator(clf, iris_frame[0], row=0)
    neighbors = {to_hex(patch.get_facecolor()).upper() for patch in display.neighbors_ax_.patches}
    assert neighbors == {class_colors(1)[0]}
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["for 0", "against 0"]


def test_values_of_scaled_neighbors_are_left_out(iris_frame):
    X, y = iris_frame
    scaler = StandardScaler().set_output(transform="pandas")
    pipeline = make_pipeline(scaler, LANNClassifier(max_iter=2, random_state=0)).fit(X, y)
    display = ExplanationDisplay.from_estimator(pipeline, X, row=3)
    assert display.values_ax_ is None
    lines = " ".join(names(display.ax_))
    assert all(f"{name} = {value:g} (" in lines for name, value in X.loc[3].items())


def test_values_of_the_row_and_its_neighbors(clf, iris_frame):
    X, _ = iris_frame
    row = clf.explain(X[75:76]).row(0)
    display = ExplanationDisplay.from_estimator(clf, X, row=75)
    header, own, typical, *column = [text.get_text() for text in display.values_ax_.texts][: row.n_listed + 3]
    assert header.replace("\n", " ") == row.feature_names[0]
    expected = [X.loc[75, row.feature_names[0]], *X.loc[row.neighbors[: row.n_listed], row.feature_names[0]]]
    assert [float(text) for text in (own, *column)] == pytest.approx(expected)
    assert typical == row.typical[0].replace(" to ", "–")
    assert names(display.neighbors_ax_)[:2] == ["this row", f"typical of {row.prediction} (80%)"]


def test_values_have_percentiles(clf, passengers, iris_frame):
    query = iris_frame[0][75:76] + 0.01  # no training row
    display = ExplanationDisplay.from_estimator(clf, query)
    assert names(display.ax_)[1].endswith(f"({clf.explain(query).row(0).percentile_text(0)})")
    frame, _, titanic = passengers
    lines = names(ExplanationDisplay.from_estimator(titanic, frame, row=310).ax_)
    assert any(line.startswith("Sex = ") and line.endswith("% of rows)") for line in lines)


@pytest.mark.parametrize("has_text", [False, True])
def test_the_title_names_the_row(iris_frame, has_text):
    X, y = iris_frame
    X = X.assign(kind=np.where(X.iloc[:, 2] > 3, "large", "small")) if has_text else X
    index = {"Row 9": range(150), "Row 109": range(100, 250), "Row 9: p9": [f"p{i}" for i in range(150)]}
    for title, names_of_rows in index.items():
        table = X.set_axis(names_of_rows)
        clf = LANNClassifier(max_iter=0, random_state=0).fit(table, np.asarray(y))
        display = ExplanationDisplay.from_estimator(clf, table, row=9)
        assert display.figure_.get_suptitle().startswith(f"{title}: predicted")


def test_title_says_what_is_special_about_the_row(clf, iris_frame):
    X, _ = iris_frame
    display = ExplanationDisplay.from_estimator(clf, X, row=75)
    assert "a training row, which does not vote on itself" in display.figure_.get_suptitle()
    display = ExplanationDisplay.from_estimator(clf, X[75:76] + 100.0)
    assert "nothing similar was seen in training" in display.figure_.get_suptitle()


def test_long_names_of_features_and_classes(long_class_names, long_names, assert_legible):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 8)), columns=[f"{name} in the blood" for name in long_names(8)])
    y = np.array(long_class_names)[np.arange(300) % 30]
    explanation = LANNClassifier(max_iter=0, random_state=0).fit(X, y).explain(X[:1])
    display = ExplanationDisplay.from_explanation(explanation, data_name="Diseases")
    assert_legible(display.figure_)
    lines = names(display.ax_)
    assert len(set(lines)) == len(lines)
    header, *_ = display.values_ax_.texts
    others = [text for text in display.values_ax_.texts if text is not header]
    box = header.get_window_extent()
    assert not any(box.overlaps(other.get_window_extent()) for other in others)


def test_neighbors_have_ids_labels_and_vote_shares(clf, iris_frame):
    X, _ = iris_frame
    ids = np.array([f"flower {k}" for k in range(150)])
    class_names = ["setosa", "versicolor", "virginica"]
    display = ExplanationDisplay.from_estimator(clf, X, row=75, ids=ids, class_names=class_names)
    explanation = clf.explain(X[75:76])
    n, n_voters = explanation.row(0).n_listed, explanation.neighbors.shape[1]
    assert names(display.neighbors_ax_)[2:] == [
        f"flower {row} · {class_names[label]}"
        for row, label in zip(explanation.neighbors[0, :n], explanation.neighbor_labels[0, :n], strict=True)
    ] + [f"{n_voters - n} others"]
    listed = np.append(explanation.vote_shares[0, :n], explanation.vote_shares[0, n:].sum())
    drawn = np.zeros(len(listed))
    for patch in display.neighbors_ax_.patches:
        drawn[round(patch.get_y() + patch.get_height() / 2) - 2] += patch.get_width()
    np.testing.assert_allclose(drawn, listed)


def test_invalid_parameters_raise(clf, iris_frame):
    with pytest.raises(ValueError, match="row must be one of the 150 rows"):
        ExplanationDisplay.from_estimator(clf, iris_frame[0], row=150)
    with pytest.raises(ValueError, match="ids must"):
        ExplanationDisplay.from_estimator(clf, iris_frame[0], ids=[1, 2])

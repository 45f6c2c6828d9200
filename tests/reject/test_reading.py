import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann.baselines import GMLVQ
from lann.reject import RejectOption
from lann.reject._reading import model_queries, neighbor_model


def reader_of(estimator, X, y, **parameters):
    return RejectOption(estimator, cv=0.3, random_state=0, **parameters).fit(X, y).reader_


def test_distances_are_those_of_the_model(quick, iris):
    X, y = iris
    reader = reader_of(quick, X, y)
    clf, queries = reader.estimator, X[:20] + 0.03
    reading = reader.read(queries)
    np.testing.assert_array_equal(reading.probabilities, clf.predict_proba(queries))
    distances, rows = clf.kneighbors(queries, 50)
    spacing = clf.kneighbors(n_neighbors=1)[0][:, 0]
    least = 0.1 * spacing.mean()
    for q in range(20):
        same = clf.model_.labels[rows[q]] == reading.probabilities[q].argmax()
        own = distances[q][same].min()
        other = distances[q][~same].min() if (~same).any() else distances[q].max()
        assert reading.separation[q] == pytest.approx((other - own) / (other + own))
        usual = spacing[rows[q, :10]].mean()
        expected = np.log((distances[q, 0] + least) / (usual + least))
        assert reading.novelty[q, 0] == pytest.approx(expected)


def test_other_classifiers_have_plain_distances(linear, iris):
    X, y = iris
    reader = reader_of(linear, X, y)
    assert reader.model is None
    reading = reader.read(X[:9])
    measured = reader.plain.measure(X[:9], reading.probabilities.argmax(axis=1))
    expected = (measured.other - measured.own) / (measured.other + measured.own)
    np.testing.assert_allclose(reading.separation, expected)
    np.testing.assert_allclose(reading.novelty[:, 0], np.log(measured.nearest))
    assert reading.novelty.shape == (9, 2)


def test_only_what_is_needed_is_measured(linear, iris):
    X, y = iris
    reader = reader_of(linear, X, y, certainty="margin", novelty_share=0)
    assert reader.plain is None
    assert reader.read(X[:3])[1:] == (None, None)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_prototypes_have_distances(iris):
    X, y = iris
    reader = reader_of(GMLVQ(max_iter=10, random_state=0), X, y)
    assert reader.spacing is None
    near, far = reader.read(X[:1]).novelty[0, 0], reader.read(X[:1] + 50).novelty[0, 0]
    assert np.isfinite([near, far]).all()
    assert far > near + 1


def test_pipelines_and_searches_are_unwrapped(quick, iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), quick).fit(X, y)
    search = GridSearchCV(pipeline, {"lannclassifier__n_neighbors": [3]}, cv=2).fit(X, y)
    for estimator in (pipeline, search):
        model = neighbor_model(estimator)
        assert model is not None
        np.testing.assert_allclose(model_queries(estimator, X), model.X)
    assert neighbor_model(StandardScaler().fit(X)) is None

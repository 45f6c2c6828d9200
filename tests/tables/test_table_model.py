import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann import LANNClassifier, LANNEmbedding
from lann.baselines import LMNN
from lann.tables import TableModel, TableWarning, fit_table

FEATURES = ["size [cm]", "noise", "color", "member"]


@pytest.fixture
def uvw():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])


def test_predictions_are_those_of_the_estimator(table_model, new):
    predictions = table_model.predict(new, id="name")
    assert list(predictions) == ["name", "prediction", "probability of in", "probability of out"]
    assert predictions["name"].tolist() == [f"p{row}" for row in range(10)]
    expected = table_model.estimator.predict_proba(new.assign(member=new["member"].map(str)))
    np.testing.assert_array_equal(predictions.iloc[:, 2:], expected)
    np.testing.assert_allclose(expected.sum(axis=1), 1)
    assert (predictions["prediction"] == table_model.estimator.classes_[expected.argmax(axis=1)]).all()


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_the_model_predicts_its_training_rows(frame):
    model = fit_table(frame, "group", id="name")
    assert model.feature_names == FEATURES
    assert repr(model) == "<TableModel of 'group': 80 training rows, 4 features>"
    assert np.mean(model.predict(frame)["prediction"] == frame["group"]) > 0.9


def test_columns_may_be_in_any_order_and_rows_keep_their_index(table_model, new):
    expected = table_model.predict(new)
    shuffled = new[new.columns[::-1]].assign(more=1).set_index(pd.Index(list("abcdefghij")))
    found = table_model.predict(shuffled)
    assert list(found.index) == list("abcdefghij")
    np.testing.assert_array_equal(found.to_numpy(), expected.to_numpy())


def test_text_cells_predict_as_numbers_do(table_model, new):
    as_text = new.astype(object).map(lambda value: value if pd.isna(value) else str(value))
    pd.testing.assert_frame_equal(table_model.predict(as_text), table_model.predict(new))


def test_all_values_may_be_missing(table_model, new):
    new[["size [cm]", "color", "member"]] = np.nan
    assert len(table_model.predict(new)) == 10


def test_new_categories_are_a_warning(table_model, new, table_warnings):
    new.loc[:5, "color"] = ["mauve", "teal", "lime", "gold", "red", "red"]
    _, messages = table_warnings(table_model.predict, new)
    expected = (
        "Column 'color' has values that the training data do not have: 'gold', 'lime', 'mauve' and 1 more."
    )
    assert messages == [expected]
    # Only those of the explained rows.
    _, messages = table_warnings(table_model.explain, new, [4, 5])
    assert messages == []


def test_rare_categories_share_a_feature(frame):
    frame["town"] = [f"t{row % 39}" for row in range(80)]
    frame = pd.concat([frame, frame.assign(town=[f"u{row % 39}" for row in range(80)])])
    with pytest.warns(TableWarning):
        model = fit_table(frame, "group", drop=["name"], classifier=LANNClassifier(max_iter=0))
    assert model.classifier.n_features_in_ == 2 + 3 + 2 + 50
    assert model.feature_names == [*FEATURES, "town"]
    assert "(rare)" in set(model.training_values()["town"])


def test_invalid_rows(table_model, new):
    with pytest.raises(ValueError, match=r"The column 'noise' is missing in one\.csv\."):
        table_model.predict(new.drop(columns="noise"), name="one.csv")
    with pytest.raises(ValueError, match="The columns 'noise', 'color' are missing in the table"):
        table_model.predict(new.drop(columns=["noise", "color"]))
    with pytest.raises(ValueError, match="There is no column 'x' in the table for id"):
        table_model.predict(new, id="x")
    new["noise"] = new["noise"].astype(object)
    new.loc[4, "noise"] = "loud"
    with pytest.raises(ValueError, match=r"'noise' of new\.csv must have finite numbers; row 4 has 'loud'"):
        table_model.predict(new, name="new.csv")
    for rows in ([10], [-1], range(9, 12)):
        with pytest.raises(ValueError, match=r"There is no row -?\d+ in the table; its rows are 0 to 9"):
            table_model.explain(new.assign(noise=0.0), rows)


def test_explanations_are_in_the_users_columns(table_model, new):
    explanation = table_model.explain(new, [7, 2], id="name")
    assert explanation.feature_names.tolist() == FEATURES
    assert explanation.query_rows.tolist() == [7, 2]
    assert explanation.query_ids.tolist() == ["p7", "p2"]
    np.testing.assert_allclose(explanation.contributions.sum(axis=2), explanation.distances**2, atol=1e-12)
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1)
    values = dict(zip(FEATURES, explanation.query_values[0], strict=True))
    assert values == {
        "size [cm]": new["size [cm]"][7],
        "noise": new["noise"][7],
        "color": new["color"][7],
        "member": str(new["member"][7]),
    }
    # Each row is explained as it is alone.
    alone, together = table_model.explain(new, [2]), explanation[1]
    np.testing.assert_array_equal(alone.neighbors, together.neighbors)
    np.testing.assert_array_equal(alone.relevances, together.relevances)


def test_neighbors_are_rows_of_the_training_table_with_their_values(table_model, new, training_frame):
    """Two rows of the table have no label; those after them keep their numbers."""
    for row in table_model.explain(new).rows():
        assert not {2, 3} & set(row.neighbors)
        for k, neighbor in enumerate(row.neighbors):
            expected = training_frame.iloc[neighbor]
            assert row.neighbor_ids[k] == expected["name"]
            assert row.neighbor_labels[k] == expected["group"]
            for name, value in zip(row.feature_names, row.neighbor_values[k], strict=True):
                if name in ("color", "member"):
                    assert pd.isna(expected[name]) if pd.isna(value) else value == str(expected[name])
                elif not pd.isna(expected[name]):
                    assert value == pytest.approx(expected[name])


def test_missing_values_are_shown_as_missing(table_model, training_frame):
    """Row 5 has no color; it is its own nearest neighbor."""
    explanation = table_model.explain(training_frame, [5, 3])
    color, size = FEATURES.index("color"), FEATURES.index("size [cm]")
    assert explanation.neighbors[0, 0] == 5
    assert pd.isna(explanation.query_values[0, color])
    assert pd.isna(explanation.query_values[1, size])
    assert pd.isna(explanation.neighbor_values[0, 0, color])
    assert not pd.isna(explanation.neighbor_values[0, 0, FEATURES.index("noise")])
    assert set(explanation.neighbor_values[0, 1:, color]) <= {"red", "green", "blue_ish"}


def test_models_that_do_not_know_missing_values_are_explained(table_model, training_frame):
    import copy

    older = copy.copy(table_model.estimator)
    del older.training_gaps_
    explanation = TableModel(older).explain(training_frame, [5])
    assert explanation.neighbors[0, 0] == 5
    assert not pd.isna(explanation.neighbor_values[0]).any()


def test_values_are_added_up_over_the_categories_of_a_column(table_model):
    n_encoded = 2 + 3 + 2
    assert table_model.classifier.n_features_in_ == n_encoded
    sums = table_model.sum_by_feature(np.arange(2 * n_encoded, dtype=float).reshape(2, n_encoded))
    assert sums.tolist() == [[0, 1, 2 + 3 + 4, 5 + 6], [7, 8, 9 + 10 + 11, 12 + 13]]


def test_a_saved_model_predicts_the_same(table_model, new, tmp_path):
    table_model.save(tmp_path / "m.lann")
    loaded = TableModel.load(tmp_path / "m.lann")
    assert loaded.target == "group"
    pd.testing.assert_frame_equal(loaded.predict(new), table_model.predict(new))
    np.testing.assert_array_equal(loaded.explain(new).neighbor_ids, table_model.explain(new).neighbor_ids)


def test_another_version_of_scikit_learn_is_one_warning(table_model, tmp_path, monkeypatch, table_warnings):
    monkeypatch.setattr("sklearn.base.__version__", "1.0.0")
    table_model.save(tmp_path / "old.lann")
    monkeypatch.undo()
    _, messages = table_warnings(TableModel.load, tmp_path / "old.lann")
    assert len(messages) == 1
    assert "saved with scikit-learn 1.0.0" in messages[0]


@pytest.mark.parametrize("named", [True, False])
def test_classifiers_without_a_pipeline(named, uvw):
    X = uvw if named else uvw.to_numpy()
    classifier = LANNClassifier(max_iter=0).fit(X, uvw["u"] > 0)
    model = TableModel(classifier)
    np.testing.assert_array_equal(
        model.predict(uvw)["probability of True"], classifier.predict_proba(X)[:, 1]
    )
    message = "The column 'w' is missing" if named else "There are 2 columns .* needs 3"
    with pytest.raises(ValueError, match=message):
        model.predict(uvw[["u", "v"]])
    explanation = model.explain(uvw.astype(str), [7])
    assert explanation.feature_names.tolist() == (["u", "v", "w"] if named else ["x0", "x1", "x2"])
    assert explanation.neighbors[0, 0] == 7
    np.testing.assert_allclose(explanation.query_values[0].astype(float), uvw.loc[7])
    np.testing.assert_allclose(explanation.neighbor_values[0, 0].astype(float), uvw.loc[7])


def test_other_pipelines_and_baselines(uvw):
    for classifier in (LANNClassifier(max_iter=1, random_state=0), LMNN(max_iter=2)):
        explanation = TableModel(make_pipeline(StandardScaler(), classifier).fit(uvw, uvw["u"] > 0)).explain(
            uvw
        )
        assert explanation.feature_names.tolist() == ["u", "v", "w"]
        np.testing.assert_allclose(explanation.query_values.astype(float), uvw)
        assert explanation.neighbor_values is None


def test_features_that_a_pipeline_computes_have_the_values_that_it_computes():
    X, y = load_wine(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), PCA(2), LANNClassifier(max_iter=1, random_state=0)).fit(X, y)
    explanation = TableModel(pipeline).explain(pd.DataFrame(X), [3])
    assert explanation.feature_names.tolist() == ["pca0", "pca1"]
    np.testing.assert_allclose(explanation.query_values[0].astype(float), pipeline[:-1].transform(X)[3])


def test_models_that_do_not_predict(iris):
    embedding = LANNEmbedding(LANNClassifier(max_iter=0), max_iter=5, random_state=0).fit(*iris)
    with pytest.raises(ValueError, match="is a LANNEmbedding, which is no classifier with neighbors"):
        TableModel(embedding)


def test_load_of_files_that_are_not_models(tmp_path):
    (tmp_path / "m.lann").write_text("x")
    with pytest.raises(ValueError, match="not a whole file written by"):
        TableModel.load(tmp_path / "m.lann")

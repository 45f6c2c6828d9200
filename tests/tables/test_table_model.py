import numpy as np
import pandas as pd
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import lann
from lann import LANNClassifier
from lann._support.format import value_text
from lann.baselines import LMNN
from lann.explain import group_features
from lann.tables import TableModel, read_table

FEATURES = ["size [cm]", "color", "member", "noise"]


@pytest.fixture
def uvw():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(40, 3)), columns=["u", "v", "w"])


def test_predictions_are_those_of_the_classifier(table_model, new):
    predictions = table_model.predict(new)
    assert list(predictions) == ["name", "prediction", "probability of in", "probability of out"]
    assert predictions["name"].tolist() == [f"p{row}" for row in range(10)]
    expected = table_model.classifier.predict_proba(new[FEATURES])
    np.testing.assert_array_equal(predictions.iloc[:, 2:], expected)
    assert (predictions["prediction"] == table_model.classifier.classes_[expected.argmax(axis=1)]).all()


def test_the_id_column_of_the_model_is_used_if_it_is_there(table_model, new):
    assert table_model.predict(new.drop(columns="name")).columns[0] == "prediction"
    assert table_model.predict(new, id="noise").columns[0] == "noise"
    assert table_model.explain(new, [7]).query_ids.tolist() == ["p7"]
    assert table_model.explain(new.drop(columns="name"), [7]).query_ids is None


@pytest.mark.filterwarnings("ignore::lann.tables.TableWarning")
def test_the_model_predicts_its_training_rows(frame):
    model = TableModel.fit(frame, "group", id="name")
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


def test_invalid_rows(table_model, new):
    with pytest.raises(ValueError, match=r"There is no column 'noise' in one\.csv"):
        table_model.predict(new.drop(columns="noise"), name="one.csv")
    with pytest.raises(ValueError, match="There is no column 'color', 'noise' in the table"):
        table_model.predict(new.drop(columns=["noise", "color"]))
    with pytest.raises(ValueError, match="There is no column 'x' in the table for id"):
        table_model.predict(new, id="x")
    new["noise"] = new["noise"].astype(object)
    new.loc[4, "noise"] = "loud"
    with pytest.raises(ValueError, match=r"'noise' of new\.csv must have numbers; row 4 has 'loud'"):
        table_model.predict(new, name="new.csv")
    new.loc[4, "noise"] = 1e200
    with pytest.raises(ValueError, match=r"'noise' are too large to be squared"):
        table_model.predict(new)
    for rows in ([10], [-1], range(9, 12)):
        with pytest.raises(ValueError, match=r"There is no row -?\d+ in the table; its rows are 0 to 9"):
            table_model.explain(new.assign(noise=0.0), rows)


def test_explanations_are_in_the_users_columns(table_model, new):
    explanation = table_model.explain(new, [7, 2], id="name")
    assert explanation.feature_names.tolist() == FEATURES
    assert explanation.to_frame("rows")["row"].tolist() == [7, 2]
    assert explanation.query_ids.tolist() == ["p7", "p2"]
    np.testing.assert_allclose(explanation.vote_shares.sum(axis=1), 1)
    assert explanation.values[0].tolist() == [
        new["size [cm]"][7],
        new["color"][7],
        str(new["member"][7]),
        new["noise"][7],
    ]
    # Each row is explained as it is alone.
    alone, together = table_model.explain(new, [2]), explanation[1]
    np.testing.assert_array_equal(alone.neighbors, together.neighbors)
    np.testing.assert_array_equal(alone.relevances, together.relevances)


def test_neighbors_are_rows_of_the_training_table_with_their_values(table_model, new, training_frame):
    """Two rows of the table have no label; those after them keep their numbers."""
    explanation = table_model.explain(new)
    for row in map(explanation.row, range(len(explanation))):
        assert not {2, 3} & set(row.neighbors)
        for k, neighbor in enumerate(row.neighbors[: row.n_listed]):
            expected = training_frame.iloc[neighbor]
            assert row.neighbor_ids[k] == expected["name"]
            assert row.neighbor_labels[k] == expected["group"]
            for name, value in zip(row.feature_names, row.neighbor_values[k], strict=True):
                if name in ("color", "member"):
                    assert pd.isna(expected[name]) if pd.isna(value) else value == str(expected[name])
                elif not pd.isna(expected[name]):
                    assert value == pytest.approx(expected[name])


def test_features_can_be_grouped(table_model, new):
    explanation = table_model.explain(new, [7])
    grouped = group_features(explanation, {"look": ["size [cm]", "color"]})
    assert grouped.feature_names.tolist() == ["look", "member", "noise"]
    found, single = (
        dict(zip(row.feature_names, row.neighbor_values.T.tolist(), strict=True))
        for row in (grouped.row(0), explanation.row(0))
    )
    assert {name: found[name] for name in ("member", "noise")} == {
        name: single[name] for name in ("member", "noise")
    }
    assert pd.isna(found["look"]).all()


def test_a_row_without_any_value(two_groups):
    model = TableModel.fit(two_groups(40), "c")
    new = pd.DataFrame({"a": [1.0, np.nan], "b": [None, None]})
    with pytest.raises(ValueError, match=r"Row 1 of new\.csv has no value in any of the columns"):
        model.predict(new, name="new.csv")
    assert model.predict(new[:1])["prediction"].tolist() == [1]


@pytest.mark.parametrize("zone", [None, "UTC"])
def test_a_row_without_a_date(two_groups, zone):
    frame = two_groups(40).assign(day=pd.date_range("2024-01-01", periods=40, tz=zone))
    frame.loc[7, "day"] = pd.NaT
    explanation = TableModel.fit(frame, "c", kinds={"day": "date"}).explain(frame, [7])
    assert [value_text(value) for value in explanation.values[0]][2] == "missing"


def test_values_are_shown_as_the_table_writes_them():
    n_rows = 40
    half = np.arange(n_rows) % 2
    frame = pd.DataFrame(
        {
            "share": [f"{10 + 30 * kind + row % 5} %" for row, kind in enumerate(half)],
            "price": [f"€ 1.{200 + row},50" for row in range(n_rows)],
            "day": [f"{row % 20 + 1:02d}.03.2024" for row in range(n_rows)],
            "count": [str(1_200_000 + row) for row in range(n_rows)],
            "member": ["true", "false"] * (n_rows // 2),
            "class": np.where(half, "b", "a"),
        }
    )
    model = TableModel.fit(frame, "class", kinds={"count": "number"})
    assert [column.kind for column in model.columns] == ["number", "number", "date", "number", "bool"]
    explanation = model.explain(frame, [7], leave_out=None)
    shown = [value_text(value) for value in explanation.values[0]]
    assert shown == ["42 %", "€ 1.207,50", "08.03.2024", "1200007", "false"]
    assert isinstance(explanation.values[0, 0], float)
    assert explanation.neighbors[0, 0] == 7
    row = explanation.row(0)
    assert [value_text(value) for value in row.neighbor_values[0]] == list(map(value_text, row.values))
    frame.loc[7, ["price", "day", "member"]] = None
    assert [value_text(value) for value in model.explain(frame, [7]).values[0]] == [
        "42 %", "missing", "missing", "1200007", "missing"
    ]  # fmt: skip


def test_a_saved_model_predicts_the_same(table_model, new, tmp_path):
    table_model.save(tmp_path / "m.lann")
    loaded = TableModel.load(tmp_path / "m.lann")
    assert loaded.target == "group"
    pd.testing.assert_frame_equal(loaded.predict(new), table_model.predict(new))
    np.testing.assert_array_equal(loaded.explain(new).neighbor_ids, table_model.explain(new).neighbor_ids)


def test_what_is_known_about_the_table_is_saved(table_model, training_frame, tmp_path):
    table_model.save(tmp_path / "m.lann")
    loaded = TableModel.load(tmp_path / "m.lann")
    assert loaded.columns == table_model.columns
    assert (loaded.target, loaded.id_column) == ("group", "name")
    np.testing.assert_array_equal(loaded.row_numbers, np.flatnonzero(training_frame["group"].notna()))
    assert loaded.ids[2] == "p4"
    assert set(loaded.record.ignored) == {"empty", "constant"}
    loaded.save(tmp_path / "again.lann")
    assert (tmp_path / "again.lann").read_bytes() == (tmp_path / "m.lann").read_bytes()


def test_records_of_other_models(table_model, uvw):
    other = LANNClassifier(max_iter=0).fit(uvw, uvw["u"] > 0)
    with pytest.raises(ValueError, match="are not the features of the model"):
        TableModel(other, table_model.record)
    few = TableModel.fit(uvw.assign(y=uvw["u"] > 0), "y", classifier=LANNClassifier(max_iter=0))
    with pytest.raises(ValueError, match="are not those of the training rows"):
        TableModel(LANNClassifier(max_iter=0).fit(uvw[:30], uvw["u"][:30] > 0), few.record)


def test_the_classifier_takes_tables_by_itself(make_table, tmp_path):
    """Bools, too, which must not be ignored."""
    frame = make_table(200)
    frame["group"] = np.where(frame["member"] ^ (frame["noise"] > 0), "in", "out")
    frame.to_csv(tmp_path / "d.csv", index=False)
    table = read_table(tmp_path / "d.csv")
    model = TableModel.fit(table, "group", drop=["name", "empty", "constant"])
    model.save(tmp_path / "m.lann")
    new = make_table(100, seed=1)
    expected = model.predict(new)["prediction"].to_numpy()
    classifier = lann.load(tmp_path / "m.lann")
    np.testing.assert_array_equal(classifier.predict(new[FEATURES]), expected)
    np.testing.assert_array_equal(
        classifier.predict(new[FEATURES].assign(member=new["member"].map(str))), expected
    )
    truth = np.where(new["member"] ^ (new["noise"] > 0), "in", "out")
    assert np.mean(expected == truth) > 0.8


def test_baselines(uvw):
    explanation = TableModel(LMNN(max_iter=2).fit(uvw, uvw["u"] > 0)).explain(uvw.astype(str))
    assert explanation.feature_names.tolist() == ["u", "v", "w"]
    np.testing.assert_allclose(explanation.values.astype(float), uvw)


def test_a_classifier_that_was_fitted_to_a_table_in_python(tmp_path):
    """Text of a file is read as its features have it."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "x": rng.normal(size=60),
            "member": rng.random(60) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(90, size=60), "D"),
            "grade": pd.Categorical(rng.choice(["low", "high"], 60), ["low", "high"], ordered=True),
            "city": rng.choice(["Ulm", "Bonn"], 60),
        }
    )
    classifier = LANNClassifier(max_iter=1, random_state=0).fit(frame, frame["x"] > 0)
    frame.to_csv(tmp_path / "new.csv", index=False)
    model = TableModel(classifier)
    assert (model.target, model.id_column, model.ids) == (None, None, None)
    predictions = model.predict(read_table(tmp_path / "new.csv"))
    np.testing.assert_array_equal(predictions["probability of True"], classifier.predict_proba(frame)[:, 1])
    shown = [value_text(value) for value in model.explain(frame, [0]).values[0]]
    assert shown[1:] == [str(frame[name][0])[:10] for name in ("member", "day", "grade", "city")]


def test_the_last_step_of_a_pipeline_explains_the_columns_before_it(uvw):
    """A pipeline is not a table model: its last step explains what the others compute."""
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), LANNClassifier(max_iter=1))
    pipeline.fit(uvw, uvw["u"] > 0)
    explanation = pipeline[-1].explain(pipeline[:-1].transform(uvw[:3]))
    assert explanation.feature_names.tolist() == ["u", "v", "w"]
    with pytest.raises(ValueError, match=r"is a Pipeline.*Give its last step"):
        TableModel(pipeline)


def test_load_of_files_that_are_not_models(tmp_path):
    (tmp_path / "m.lann").write_text("x")
    with pytest.raises(ValueError, match="not a whole file written by"):
        TableModel.load(tmp_path / "m.lann")


@pytest.fixture(scope="module")
def visits():
    """A table in which rows 0 and 1, and 6 and 7 have the same values; row 3 has no label."""
    values = [1.0, 1.0, 2.0, 2.5, 3.0, 7.0, 8.0, 8.0, 9.0, 9.5]
    labels = ["a", "b", "a", None, "a", "b", "b", "a", "b", "b"]
    return pd.DataFrame({"visit": [f"v{row}" for row in range(10)], "x": values, "label": labels})


def test_rows_of_the_training_table_are_left_out_by_their_row_numbers(visits):
    model = TableModel.fit(visits, "label", drop=["visit"], classifier=LANNClassifier(2, max_iter=0))
    explanation = model.explain(visits)
    assert explanation.left_out.tolist() == [0, 1, 2, -1, 4, 5, 6, 7, 8, 9]
    assert explanation.neighbors[0, 0] == 1
    assert explanation.neighbors[1, 0] == 0
    assert model.explain(visits, [7, 0]).left_out.tolist() == [7, 0]
    assert explanation.row(7).left_out == 7
    assert model.explain(visits, leave_out=None).left_out.tolist() == [-1] * 10
    with pytest.raises(ValueError, match="leave_out must be one of 'auto', None; got 'all'"):
        model.explain(visits, leave_out="all")


def test_rows_of_other_tables_are_left_out_by_their_values(visits):
    model = TableModel.fit(visits, "label", drop=["visit"], classifier=LANNClassifier(2, max_iter=0))
    # Of rows that have copies, it is unknown which one it is.
    assert model.explain(visits[2:].reset_index(drop=True)).left_out.tolist() == [2, -1, 4, 5, -1, -1, 8, 9]
    changed = visits.assign(x=visits["x"].where(visits.index != 8, 9.1))
    assert model.explain(changed).left_out.tolist() == [-1, -1, 2, -1, 4, 5, -1, -1, -1, 9]


def test_rows_of_other_tables_are_left_out_by_their_names(visits):
    model = TableModel.fit(visits, "label", id="visit", classifier=LANNClassifier(2, max_iter=0))
    shuffled = visits.iloc[[7, 6, 1, 0, 5]].reset_index(drop=True)
    assert model.explain(shuffled).left_out.tolist() == [7, 6, 1, 0, 5]
    renamed = shuffled.assign(visit=["v7", "new", "v1", "new", "v5"])
    assert model.explain(renamed).left_out.tolist() == [7, -1, 1, -1, 5]
    # Another column names the rows: they go by their values.
    assert model.explain(renamed.assign(other="o"), id="other").left_out.tolist() == [-1, -1, -1, -1, 5]

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier

from benchmarks.common.catboost_table import MISSING, CatBoostTable

pytest.importorskip("catboost")


@pytest.fixture
def rows():
    """The label is that of a category, the missing one included; numbers are noise with gaps."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"x": rng.normal(size=90), "level": rng.choice(["a", "b", None], 90)})
    y = table["level"].map({"a": 0, "b": 1}).fillna(2).to_numpy(np.int64)
    table.loc[:9, "x"] = np.nan
    return table.astype({"level": "category"}), y


def test_missing_categories_are_a_level(rows):
    table, y = rows
    model = clone(CatBoostTable(n_jobs=1, random_state=3))
    assert is_classifier(model)
    model.fit(table, y)
    assert model.model_.get_params()["cat_features"] == ["level"]
    assert model.model_.get_params()["random_seed"] == 3
    assert model.predict(table).shape == (90,)
    assert (model.predict(table) == y).mean() > 0.95
    np.testing.assert_allclose(model.predict_proba(table).sum(axis=1), 1)
    assert model.classes_.tolist() == [0, 1, 2]
    filled = table.astype({"level": object}).fillna({"level": MISSING})
    np.testing.assert_array_equal(model.predict_proba(filled), model.predict_proba(table))

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone

from benchmarks.missing.imputer import TableImputer


@pytest.mark.parametrize("kind", [object, "category"])
def test_gaps_are_filled_by_the_training_rows(kind):
    train = pd.DataFrame({"x": [1.0, 5.0, 6.0, np.nan], "port": ["S", "Q", "S", None]})
    test = pd.DataFrame({"x": [np.nan, 9.0], "port": ["Q", None]})
    train, test = train.astype({"port": kind}), test.astype({"port": kind})
    imputer = clone(TableImputer()).fit(train)
    if kind == "category":  # the same levels, as in a split of one table
        test["port"] = test["port"].cat.set_categories(train["port"].cat.categories)
    filled = imputer.transform(test)
    assert filled["x"].tolist() == [5.0, 9.0]
    assert filled["port"].tolist() == ["Q", "S"]
    assert (filled.dtypes == test.dtypes).all()
    assert imputer.transform(train).isna().sum().sum() == 0


def test_a_column_of_gaps_alone_stays_as_it_is():
    table = pd.DataFrame({"port": np.array([None, None], dtype=object), "x": [1.0, np.nan]})
    filled = TableImputer().fit(table).transform(table)
    assert filled["port"].isna().all()
    assert filled["x"].tolist() == [1.0, 1.0]

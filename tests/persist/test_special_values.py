"""Numbers of extreme size in arrays of model files: one sentence, or a model that computes with them."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale

from lann import LANNClassifier, load, save
from lann.baselines import DANN, PLML, PublishedLANN
from lann.reject import RejectOption
from lann.streams import SAMLANN
from tests.fuzz.model_files.honest import load_and_use
from tests.fuzz.model_files.mutations import change_array

QUICK = {"max_iter": 2, "random_state": 0}
OUTSIDE = "outside its bounds"
TOO_LARGE = "metrics are too large for the values of feature"


def with_gaps_and_categories(X):
    rows = np.arange(len(X))
    table = pd.DataFrame(X.copy(), columns=[*"abcd"])
    table.loc[rows % 5 == 0, ["a", "c"]] = np.nan
    return table.assign(color=np.where(rows % 3 == 0, "red", "blue"))


ESTIMATORS = {
    "LANN": lambda X, y: LANNClassifier(**QUICK).fit(X, y),
    "table": lambda X, y: LANNClassifier(**QUICK).fit(with_gaps_and_categories(X), y),
    "full": lambda X, y: LANNClassifier(metric="full", **QUICK).fit(X, y),
    "float32": lambda X, y: LANNClassifier(storage="float32", **QUICK).fit(X, y),
    "PublishedLANN": lambda X, y: PublishedLANN(**QUICK).fit(X, y),
    "DANN": lambda X, y: DANN().fit(X, y),
    "RejectOption": lambda X, y: RejectOption(LANNClassifier(**QUICK), cv=2, random_state=0).fit(X, y),
    "SAMLANN": lambda X, y: SAMLANN(window_size=30, min_window_size=10, random_state=0).fit(X, y),
}


@pytest.fixture(scope="module")
def data():
    X, y = load_iris(return_X_y=True)
    return scale(X)[::3], y[::3]


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """Honest files, each made when it is first needed."""
    path, made = tmp_path_factory.mktemp("special") / "model.lann", {}

    def content(name):
        if name not in made:
            model = ESTIMATORS[name](*data)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                if name in ("LANN", "DANN"):
                    model.explain(data[0][:2])
            save(model, path)
            made[name] = path.read_bytes()
        return made[name]

    return content


def with_number(content, entry, value, place=...):
    def change(array):
        array = array.copy()
        array[place] = value
        return array

    return change_array(content, f"model/{entry}.npy", change)


LEVELS = "model_/levels"
REJECTED = [
    ("LANN", f"{LEVELS}/encoding/curves/edges", -1.7e308, 0, OUTSIDE),
    ("LANN", f"{LEVELS}/encoding/curves/slopes", 1e144, 0, TOO_LARGE),
    ("LANN", f"{LEVELS}/components", 1e100, (3, 1), OUTSIDE),
    ("LANN", "model_/landmarks/votes", -1.7e308, 0, OUTSIDE),
    ("LANN", "model_/spacing/distances", 1.7e308, 0, OUTSIDE),
    ("table", f"{LEVELS}/encoding/gaps/heights", 1e150, 0, OUTSIDE),
    ("table", f"{LEVELS}/encoding/gaps/scales", 1e-300, 0, OUTSIDE),
    ("table", f"{LEVELS}/encoding/gaps/scales", 1e-149, 0, TOO_LARGE),
    ("table", f"{LEVELS}/encoding/positions/values", 1e300, 0, OUTSIDE),
    ("full", f"{LEVELS}/point_matrices", -1e153, ..., OUTSIDE),
    ("float32", f"{LEVELS}/encoding/curves/slopes", 1e38, 0, TOO_LARGE),
    ("float32", f"{LEVELS}/encoding/curves/edges", 1e74, 0, "edges of curves are too far away"),
    ("PublishedLANN", f"{LEVELS}/X", np.nan, 0, "a training row has a gap"),
    ("DANN", "model_/X", 1e150, 0, OUTSIDE),
    ("RejectOption", "_state/novelty_scale/usual", -1.7e308, 0, OUTSIDE),
    ("RejectOption", "_state/novelty_scale/spread", 1e-320, 0, OUTSIDE),
    ("RejectOption", "_state/plain/rows", -1.7e308, 0, OUTSIDE),
    ("RejectOption", "_state/plain/extremes", -1.7e308, 0, OUTSIDE),
    ("RejectOption", "_state/plain/spacing", 1.7e308, 0, OUTSIDE),
    ("RejectOption", "_state/spacing", 1.7e308, 0, OUTSIDE),
    ("SAMLANN", "memories/short_extras", -1.0, -1, "weights that are not at least 0"),
    ("SAMLANN", "metric_/edges", -1.7e308, 0, OUTSIDE),
]


@pytest.mark.parametrize(("name", "entry", "value", "place", "message"), REJECTED)
def test_numbers_with_which_nothing_can_be_computed(files, tmp_path, name, entry, value, place, message):
    path = tmp_path / "model.lann"
    path.write_bytes(with_number(files(name), entry, value, place))
    with pytest.raises(ValueError, match=f"{re.escape(str(path))} cannot be loaded: .*{message}"):
        load(path)


USED = [
    ("LANN", "model_/spacing/distances", 1e-320, ...),
    ("LANN", f"{LEVELS}/X", 1e100, (3, 1)),
    ("full", f"{LEVELS}/X", 1e139, (3, 1)),
    ("full", f"{LEVELS}/components", 1e10, ...),
    ("table", f"{LEVELS}/X", np.nan, ...),
    ("RejectOption", "_state/plain/spacing", 1e-320, ...),
    ("RejectOption", "_state/spacing", 1e-320, ...),
    ("RejectOption", "_state/plain/spacing", np.inf, 0),
    ("RejectOption", "_state/spacing", np.inf, ...),
    ("DANN", "model_/X", 1e60, ...),
]


@pytest.mark.parametrize(("name", "entry", "value", "place"), USED)
def test_numbers_with_which_something_can_be_computed(files, tmp_path, name, entry, value, place):
    """Predict, explain and save again, without warnings of NumPy, as the harness does."""
    path = tmp_path / "model.lann"
    path.write_bytes(with_number(files(name), entry, value, place))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        load_and_use(path)


@pytest.mark.parametrize("exponent", [-440, 0, 440])
@pytest.mark.parametrize("make", [PLML, DANN, PublishedLANN], ids=lambda cls: cls.__name__)
def test_models_of_data_of_any_scale_are_saved(data, tmp_path, make, exponent):
    """The maps of PLML are as large as the data are small."""
    X, y = np.ldexp(data[0], exponent), data[1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        warnings.simplefilter("error", RuntimeWarning)
        model = make(**({} if make is DANN else QUICK)).fit(X, y)
        save(model, tmp_path / "model.lann")
        loaded = load(tmp_path / "model.lann")
        np.testing.assert_array_equal(loaded.predict_proba(X), model.predict_proba(X))
        assert np.isfinite(loaded.class_feature_weights_).all()

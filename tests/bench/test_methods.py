import pytest
from sklearn.base import clone, is_classifier

from lann import baselines
from lann.bench import methods
from lann.bench.methods import Method, all_methods, choose_methods, register
from lann.bench.published import COLUMNS, PUBLISHED, published_accuracy
from lann.datasets import PAPER_SETS


@pytest.fixture
def registry(monkeypatch):
    all_methods()  # the providers are imported once, and must register where they stay
    monkeypatch.setattr(methods, "_registry", dict(methods._registry))


@pytest.mark.parametrize("method", all_methods(), ids=lambda method: method.name)
def test_every_method_makes_classifiers_with_the_threads_and_the_seed(method):
    estimator = method.make(3, 17)
    assert is_classifier(clone(estimator))
    parameters = estimator.get_params(deep=True)
    for name, value in parameters.items():
        if name.endswith("n_jobs"):
            assert value == 3
        if name.endswith("random_state"):
            assert value == 17
    assert method.description.endswith(".")
    assert method.published in (None, *COLUMNS)


def test_the_ablations_leave_out_what_they_say():
    made = {method.name: method.make(1, 0) for method in all_methods()}
    assert made["lann-no-point"].levels == ("curves", "map", "class")
    assert made["lann-no-map"].levels == ("curves", "class", "point")
    assert made["lann-no-curves"].levels == ("map", "class", "point")
    assert made["lann-full"].metric == "full"
    assert made["lann-low-rank"].metric == "low_rank"
    assert made["lann-point-only"].levels == ("point",)
    assert made["lann-published"].loss == "softmax"
    assert made["knn"].weights == "uniform"
    assert made["knn-distance"].weights == "distance"


def test_every_baseline_has_a_row_with_its_defaults():
    made = {type(row).__name__: row for row in (method.make(1, 0) for method in all_methods())}
    for name in baselines.__all__:
        given = {"n_jobs": 1, "random_state": 0}
        plain = getattr(baselines, name)().get_params()
        assert made[name].get_params() == plain | {key: given[key] for key in given if key in plain}


def test_a_registered_method_joins_its_group(registry):
    new = register(Method("knn-new", "new", lambda n_jobs, seed: None, "New.", "nearest neighbors"))
    names = [method.name for method in all_methods()]
    assert names.index("nca") + 1 == names.index("knn-new") < names.index("svm")
    assert choose_methods(["knn-new"]) == [new]


def test_slow_methods_are_not_for_quick_runs_unless_asked_for(registry):
    register(Method("slow", "slow", lambda n_jobs, seed: None, "Slow.", "LANN", quick=False))
    assert "slow" not in {method.name for method in choose_methods(None, quick=True)}
    assert "slow" in {method.name for method in choose_methods(None)}
    assert [method.name for method in choose_methods(["slow"], quick=True)] == ["slow"]


@pytest.mark.parametrize(
    ("name", "said"),
    [("knn", "a method 'knn' already"), ("../evil", "lower-case words"), ("A", "lower-case")],
)
def test_names_are_words_and_unique(registry, name, said):
    with pytest.raises(ValueError, match=said):
        register(Method(name, "x", lambda n_jobs, seed: None, "X.", "LANN"))


def test_an_unknown_method_is_named_with_the_known():
    with pytest.raises(ValueError, match=r"no method 'tree'; the methods are knn, .*lann"):
        choose_methods(["knn", "tree"])


def test_the_published_table_has_the_papers_public_sets():
    assert list(PUBLISHED) == [name for name in PAPER_SETS if name != "adrenal"]
    means = {c: sum(row.accuracies[c] for row in PUBLISHED.values()) / len(PUBLISHED) for c in COLUMNS}
    assert {column: round(mean, 3) for column, mean in means.items()} == {
        "kNN": 0.895, "LMNN": 0.910, "LGMLVQ": 0.870, "LANN": 0.926,
    }  # fmt: skip
    assert all(0 < row.lann_std < 0.05 for row in PUBLISHED.values())


def test_what_was_not_published_is_none():
    assert published_accuracy("wine", "LGMLVQ") == 0.63
    assert published_accuracy("wine", None) is None
    assert published_accuracy("adrenal", "LANN") is None

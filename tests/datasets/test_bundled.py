import pytest
import sklearn.datasets

from lann.datasets.bundled import BUNDLED, read


@pytest.mark.parametrize(
    ("name", "shape", "n_classes"),
    [
        ("breast-cancer", (569, 30), 2),
        ("digits", (1797, 64), 10),
        ("iris", (150, 4), 3),
        ("wine", (178, 13), 3),
    ],
)
def test_sizes_are_those_of_the_paper(name, shape, n_classes):
    assert name in BUNDLED
    table = read(name)
    assert table.data.shape == shape
    assert len(table.feature_names) == shape[1]
    assert len(table.target_names) == n_classes
    assert table.target.dtype.kind == "i"


def test_the_content_is_that_of_scikit_learn():
    original = sklearn.datasets.load_wine()
    table = read("wine")
    assert (table.data == original.data).all()
    assert (table.target == original.target).all()
    assert table.description == original.DESCR

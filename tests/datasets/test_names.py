import pytest

from lann.datasets import PAPER_SETS, names
from lann.datasets.names import canonical_name


def test_the_fourteen_sets_are_listed_in_alphabetical_order():
    assert len(names()) == 14
    assert names() == sorted(PAPER_SETS)


def test_the_list_is_the_callers_own():
    names().clear()
    assert len(names()) == 14


@pytest.mark.parametrize("name", PAPER_SETS)
def test_separators_and_case_do_not_matter(name):
    variants = [name, name.upper(), name.replace("-", "_"), name.replace("-", " ").title(), f" {name} "]
    assert {canonical_name(variant) for variant in variants} == {name}


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("artificial", "artificial-classification"),
        ("breast_cancer", "breast-cancer"),
        ("gamma", "gamma-telescope"),
        ("MagicTelescope", "gamma-telescope"),
        ("letter", "letter-recognition"),
        ("outdoor", "outdoor-objects"),
        ("pendigits", "pen-digits"),
        ("robot", "robot-navigation"),
        ("wall-robot-navigation", "robot-navigation"),
        ("segment", "image-segmentation"),
        ("segmentation", "image-segmentation"),
    ],
)
def test_short_forms_are_understood(alias, name):
    assert canonical_name(alias) == name


def test_an_unknown_name_gets_a_suggestion_and_the_list():
    with pytest.raises(
        ValueError, match=r"Unknown data set 'ionosfere'\. Did you mean 'ionosphere'\?"
    ) as error:
        canonical_name("ionosfere")
    assert all(name in str(error.value) for name in PAPER_SETS)


@pytest.mark.parametrize("name", ["mnist-8m", "", None, 3])
def test_a_name_like_none_gets_the_list_alone(name):
    with pytest.raises(ValueError, match="Known are: adrenal") as error:
        canonical_name(name)
    assert "Did you mean" not in str(error.value)

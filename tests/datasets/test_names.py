import pytest

from lann.datasets import PAPER_SETS, canonical_name, names


def test_names_are_the_fourteen_data_sets_in_alphabetical_order():
    assert len(names()) == 14
    assert names() == sorted(PAPER_SETS)


def test_names_returns_a_copy():
    names().clear()
    assert len(names()) == 14


def test_case_and_separators_are_ignored():
    for name in PAPER_SETS:
        variants = [name.upper(), name.replace("-", "_"), name.replace("-", " ").title(), f" {name} "]
        assert {canonical_name(variant) for variant in variants} == {name}


@pytest.mark.parametrize(
    ("alias", "name"),
    [
        ("artificial", "artificial-classification"),
        ("gamma", "gamma-telescope"),
        ("MagicTelescope", "gamma-telescope"),
        ("letter", "letter-recognition"),
        ("outdoor", "outdoor-objects"),
        ("wall-robot-navigation", "robot-navigation"),
        ("segment", "image-segmentation"),
    ],
)
def test_aliases(alias, name):
    assert canonical_name(alias) == name


def test_error_for_an_unknown_name_has_a_suggestion_and_the_list():
    with pytest.raises(
        ValueError, match=r"Unknown data set 'ionosfere'\. Did you mean 'ionosphere'\?"
    ) as error:
        canonical_name("ionosfere")
    assert all(name in str(error.value) for name in PAPER_SETS)


@pytest.mark.parametrize("name", ["mnist-8m", "", None, 3])
def test_error_without_a_similar_name_has_the_list_only(name):
    with pytest.raises(ValueError, match="The known ones are: adrenal") as error:
        canonical_name(name)
    assert "Did you mean" not in str(error.value)

import inspect

import pytest

import lann.plot

DISPLAYS = [name for name in lann.plot.__all__ if name.endswith("Display")]


def test_importing_the_displays_does_not_import_matplotlib(in_new_process):
    loaded = in_new_process(
        """
        import json, sys
        import lann, lann.plot
        displays = [getattr(lann.plot, name) for name in lann.plot.__all__]
        print(json.dumps([name for name in ("matplotlib", "shap", "lime") if name in sys.modules]))
        """
    )
    assert loaded == []


@pytest.mark.parametrize("name", DISPLAYS)
def test_displays_follow_the_convention_of_scikit_learn(name):
    display = getattr(lann.plot, name)
    assert list(inspect.signature(display.plot).parameters)[1] == "ax"
    assert "ax" in inspect.signature(display.from_estimator).parameters


@pytest.mark.parametrize("name", DISPLAYS)
def test_all_parameters_and_attributes_are_documented(name):
    display = getattr(lann.plot, name)
    text = inspect.getdoc(display)
    assert ">>>" in text
    assert all(attribute in text for attribute in ("figure_ : ", "ax_ : "))
    parameters = list(inspect.signature(display).parameters)
    assert all(f"{parameter} : " in text for parameter in parameters)
    for method in (display.plot, display.from_estimator):
        text = inspect.getdoc(method)
        assert "Returns\n-------" in text
        assert all(f"{parameter} : " in text for parameter in list(inspect.signature(method).parameters)[1:])


def test_unknown_name_raises():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lann.plot.nothing  # noqa: B018
    assert set(lann.plot.__all__) <= set(dir(lann.plot))

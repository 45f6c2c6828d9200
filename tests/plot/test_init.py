import inspect

import pytest

import lann.plot


def test_matplotlib_is_imported_on_use(in_new_process):
    loaded = in_new_process(
        """
        import json, sys
        import lann, lann.plot
        from lann.plot import RelevanceDisplay, SuspiciousPointsDisplay, DecisionRegionsDisplay
        print(json.dumps([name for name in ("matplotlib", "shap", "lime") if name in sys.modules]))
        """
    )
    assert loaded == []


@pytest.mark.parametrize("name", lann.plot.__all__)
def test_every_display_is_documented_and_follows_the_convention(name):
    display = getattr(lann.plot, name)
    assert ">>>" in inspect.getdoc(display)
    assert list(inspect.signature(display.plot).parameters)[1] == "ax"
    assert "ax" in inspect.signature(display.from_estimator).parameters
    assert all(inspect.getdoc(getattr(display, method)) for method in ("plot", "from_estimator"))


def test_unknown_names_are_not_found():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lann.plot.nothing  # noqa: B018
    assert set(lann.plot.__all__) <= set(dir(lann.plot))

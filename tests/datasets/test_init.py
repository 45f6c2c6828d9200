import inspect
import subprocess
import sys

import pytest

import lann.datasets

FUNCTIONS = [name for name in lann.datasets.__all__ if inspect.isfunction(getattr(lann.datasets, name))]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_parameter_is_documented_with_its_type_and_every_function_has_an_example(name):
    function = getattr(lann.datasets, name)
    text = inspect.getdoc(function)
    assert all(f"{parameter} : " in text for parameter in inspect.signature(function).parameters)
    assert "Returns\n-------" in text
    assert ">>>" in text


def test_importing_the_package_loads_neither_pandas_nor_the_data_of_scikit_learn():
    program = (
        "import sys, lann.datasets; print(*{'pandas', 'sklearn.datasets', 'scipy.stats'} & set(sys.modules))"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""

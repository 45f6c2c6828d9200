"""Made-up results of the reject option."""

import pytest

from benchmarks.common.methods import choose_methods
from benchmarks.common.split_benchmark import Plan
from benchmarks.reject.measure import BY, CERTAINTIES, STRANGERS
from benchmarks.reject.methods import METHODS
from benchmarks.reject.plan import PART
from lann.datasets import PAPER_SETS


@pytest.fixture
def made_up(results_of):
    """Results that pass every check, unless changed, and the plan.

    `changes` has other values by method and data set; None in the place of a data set is any.
    """

    def make(changes=None):
        areas = {"lann": 0.01, "forest": 0.02, "svm": 0.03}
        cells = {}
        for method, area in areas.items():
            for name in PAPER_SETS:
                values = {
                    "error": 0.05, "gone": 0.6, "rejected": 0.1, "error_accepted": 0.02, "gone_learned": 0.55,
                    "seconds": 1.0,
                    **{f"aurc_{kind}": area for kind in CERTAINTIES},
                    **{f"area_{by}": area for by in (*BY, "local_exact")},
                    **{f"far_{kind}_{s}": 0.97 for kind in (*STRANGERS, "other_lowest") for s in (1, 5)},
                    "alarms_1": 0.01, "alarms_5": 0.05,
                }  # fmt: skip
                other = changes or {}
                values |= other.get((method, None), {}) | other.get((method, name), {})
                cells[PART, method, name] = [values] * 3
        return results_of(cells), Plan(0, 3, choose_methods(available=METHODS), list(PAPER_SETS))

    return make

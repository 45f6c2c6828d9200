from types import SimpleNamespace

import numpy as np

from benchmarks.explanations.answers import score_answers

SUPPORT = np.array([[0.5, -0.5, *[0.0] * 38], [0.01] * 40, [0.0] * 40])


class Model:
    """The first row has two features, the second the same everywhere, the third nothing."""

    def explain(self, queries, leave_out):
        assert leave_out is None
        grouped = np.column_stack([SUPPORT[:, :4].sum(axis=1), SUPPORT[:, 4:]])
        return SimpleNamespace(
            support=SUPPORT,
            relevances=np.abs(SUPPORT),
            correlated={"four": ["a", "b", "c", "d"]},
            group_features=lambda mapping: SimpleNamespace(support=grouped, relevances=np.abs(grouped)),
        )


def test_rows_with_an_answer_are_counted():
    found = score_answers(Model(), np.zeros((3, 40)))
    # The group of the first row has no support, but its features have.
    assert (found["support"], found["grouped_support"]) == (1 / 3, 2 / 3)
    assert (found["relevances"], found["grouped_relevances"]) == (1 / 3, 2 / 3)
    assert found["absolute"] == 1 / 3
    assert found["n_rows"] == 3

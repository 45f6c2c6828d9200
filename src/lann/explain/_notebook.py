"""Explanations as a small table for notebooks: who voted, and what the vote hangs on, as bars."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

MOST_ROWS = 5
MOST_FEATURES = 5
MOST_NEIGHBORS = 5
# A share of the vote that is not printed as 0%.
SEEN = 0.005

# Text and lines in the notebook's own color, on its own ground: right in light and in dark. The colors of
# the bars are told apart with any color vision, and the sign beside them says the same.
STYLE = """
.lann-explanation table {border-collapse: collapse; font-size: 0.9em; color: inherit; background: transparent}
.lann-explanation tr, .lann-explanation tbody tr:nth-child(odd) {background: transparent}
.lann-explanation th, .lann-explanation td {text-align: left; vertical-align: top; padding: 4px 12px 4px 0;
  border: none; border-bottom: 1px solid rgba(128, 128, 128, 0.4); color: inherit; white-space: nowrap}
.lann-explanation td div {display: flex; align-items: center; gap: 6px; line-height: 1.35}
.lann-explanation .name {width: 12em; overflow: hidden; text-overflow: ellipsis}
.lann-explanation .track {width: 7em; height: 0.7em; background: rgba(128, 128, 128, 0.2)}
.lann-explanation .track span {display: block; height: 100%; background: #808080}
.lann-explanation .track .for {background: #2a85c9}
.lann-explanation .track .against {background: #d9730d}
.lann-explanation .quiet {opacity: 0.7}
""".strip()


def to_html(explanation: Explanation) -> str:
    """
    Show the first rows as a table with bars, as notebooks do by themselves.

    Bars are the relevances of the features that a prediction hangs on most; their color and sign tell
    whether the value speaks for the prediction or against it. It needs no script and
    nothing from the network.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> page = LANNClassifier(random_state=0).fit(X, y).explain(X[:20])._repr_html_()
    >>> page.count("<tr>"), "and 15 more rows" in page
    (6, True)
    """
    shown = explanation[:MOST_ROWS]
    body = "".join(_row(shown, row) for row in range(len(shown)))
    more = len(explanation) - len(shown)
    left_out = f'<p class="quiet">and {more} more row{"s" if more > 1 else ""}</p>' if more else ""
    what = escape(repr(explanation))
    signs = ": + speaks for it, − against it" if explanation.has_supports else ""
    return (
        f'<div class="lann-explanation"><style>{STYLE}</style><p class="quiet">{what}</p>'
        f"<table><thead><tr><th></th><th>prediction</th><th>hangs on{signs}</th><th>neighbors</th></tr>"
        f"</thead><tbody>{body}</tbody></table>{left_out}</div>"
    )


def _row(explanation: Explanation, row: int) -> str:
    cells = [
        str(row),
        _prediction(explanation, row),
        _features(explanation, row),
        _neighbors(explanation, row),
    ]
    return "<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"


def _prediction(explanation: Explanation, row: int) -> str:
    votes = explanation.probabilities[row]
    own, second = explanation.predicted_class_indices[row], explanation.runner_up_class_indices[row]
    return (
        f"<div><b>{_text(explanation.predictions[row])}</b> {votes[own]:.0%}</div>"
        f'<div class="quiet">next: {_text(explanation.classes[second])} {votes[second]:.0%}</div>'
    )


def _features(explanation: Explanation, row: int) -> str:
    relevances = explanation.relevances[row]
    support = explanation.support[row] if explanation.has_supports else None
    largest = explanation.relevances.max()
    lines = []
    for place in np.argsort(-relevances, kind="stable")[:MOST_FEATURES]:
        name, value = _text(explanation.feature_names[place]), relevances[place]
        kind, sign, figure = "", "", f"{value:.3g}"
        if support is not None:
            if value < SEEN:
                break
            kind, sign = (' class="for"', "+") if support[place] >= 0 else (' class="against"', "−")
            figure = f"{value:.0%}"
        width = 100 * value / largest if largest > 0 else 0.0
        lines.append(
            f'<div><span class="name" title="{name}">{name}</span>'
            f'<span class="track"><span{kind} style="width:{width:.1f}%"></span></span>'
            f"<span>{sign} {figure}</span></div>"
        )
    return "".join(lines) or '<span class="quiet">no single feature</span>'


def _neighbors(explanation: Explanation, row: int) -> str:
    called = explanation.neighbors if explanation.neighbor_ids is None else explanation.neighbor_ids
    k = explanation.neighbors.shape[1]
    lines = [
        f"<div>{_text(called[row, place])}: {_text(explanation.neighbor_labels[row, place])}"
        f' <span class="quiet">{explanation.vote_shares[row, place]:.0%} of the votes</span></div>'
        for place in range(min(k, MOST_NEIGHBORS))
    ]
    if k > MOST_NEIGHBORS:
        lines.append(f'<div class="quiet">and {k - MOST_NEIGHBORS} more</div>')
    return "".join(lines)


def _text(value: Any) -> str:
    return escape(str(value))

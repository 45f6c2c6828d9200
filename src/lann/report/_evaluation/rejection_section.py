"""The section about rejecting the least certain predictions, with the risk-coverage curve."""

from __future__ import annotations

import numpy as np

from lann._format import percent
from lann._markup import Html, element, header_cell, table
from lann.report._evaluation.rejection import COVERAGES, Rejection, RiskCurve
from lann.report._evaluation.texts import share

# Of the drawing: its size and margins.
WIDTH, HEIGHT = 460, 320
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 46
# Points of a drawn curve, at most.
MOST_POINTS = 400
# A smaller share of accepted rows does not determine the height of the drawing.
LEAST_COVERAGE = 0.1
# Distances of the lines of the grid.
STEPS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2)
MOST_LINES = 6

CERTAINTIES = {
    "probability": "The certainty is the probability of the prediction.",
    "combined": (
        "The certainty is that of the reject option: the probability of the prediction and, between equal "
        "probabilities, how much nearer the nearest row of the predicted class is than that of any other."
    ),
}
HELP = (
    "Rows are accepted in the order of falling certainty; every row counts once. The curve of a good "
    "certainty is low on the left: the mistakes are among the rows that are rejected first. `lann predict "
    "--coverage 0.9` rejects about a tenth of the rows, and those that are far from the training rows."
)


def rejection_section(rejection: Rejection) -> Html:
    """Return the section about rejecting the least certain predictions."""
    names = [curve.method for curve in rejection.curves]
    header = [header_cell("accepted"), *[header_cell(f"error of {name}", number=True) for name in names]]
    lines = [
        element(
            "tr",
            element("th", percent(coverage), scope="row"),
            *[element("td", share(curve.risk_at(coverage)), class_="number") for curve in rejection.curves],
        )
        for coverage in COVERAGES
    ]
    return element(
        "section",
        element("h2", "If the least certain predictions are rejected", id="rejection"),
        element("p", rejection.sentence, class_="lead"),
        element("p", rejection.areas),
        element(
            "div",
            _drawing(rejection),
            table("Error by the share of accepted rows", header, lines, class_="rejection"),
            class_="side-by-side",
        ),
        element("p", f"{CERTAINTIES[rejection.certainty]} {HELP}", class_="hint"),
        aria_labelledby="rejection",
    )


def _drawing(rejection: Rejection) -> Html:
    """Return the risk-coverage curves as a drawing."""
    seen = [curve.risks[curve.coverages >= min(LEAST_COVERAGE, 1.0)] for curve in rejection.curves]
    top = max(float(np.concatenate(seen).max()), STEPS[0])
    step = next((step for step in STEPS if top / step <= MOST_LINES), STEPS[-1])
    top = step * np.ceil(top / step - 1e-9)

    def x(coverage: float) -> str:
        return f"{LEFT + coverage * (WIDTH - LEFT - RIGHT):.1f}"

    def y(risk: float) -> str:
        return f"{HEIGHT - BOTTOM - min(risk / top, 1.0) * (HEIGHT - TOP - BOTTOM):.1f}"

    ticks = [step * number for number in range(round(top / step) + 1)]
    parts = [element("line", x1=x(0), x2=x(1), y1=y(tick), y2=y(tick), class_="grid") for tick in ticks]
    parts += [
        element("text", f"{100 * tick:.4g}%", x=str(LEFT - 8), y=y(tick), class_="tick vertical-tick")
        for tick in ticks
    ]
    parts += [
        element("text", f"{tick / 5:.0%}", x=x(tick / 5), y=str(HEIGHT - BOTTOM + 18), class_="tick")
        for tick in range(6)
    ]
    for number, curve in reversed(list(enumerate(rejection.curves))):
        points = " ".join(f"{x(coverage)},{y(risk)}" for coverage, risk in _points(curve))
        title = element("title", curve.method)
        parts.append(element("polyline", title, points=points, class_=_style(number)))
    parts += _legend(rejection)
    middle_x = f"{(LEFT + WIDTH - RIGHT) / 2:.0f}"
    middle_y = f"{(TOP + HEIGHT - BOTTOM) / 2:.0f}"
    parts.append(element("text", "accepted rows", x=middle_x, y=str(HEIGHT - 8), class_="axis"))
    turned = f"rotate(-90 14 {middle_y})"
    parts.append(
        element("text", "error of accepted rows", x="14", y=middle_y, transform=turned, class_="axis")
    )
    model = rejection.curves[0]
    said = ", ".join(f"{percent(c)}: {percent(model.risk_at(c), 1)}" for c in COVERAGES)
    return element(
        "svg",
        element("title", "Risk-coverage curve"),
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"Risk-coverage curve, error by the share of accepted rows: {said}",
        class_="curve-drawing",
    )


def _points(curve: RiskCurve) -> list[tuple[float, float]]:
    """Return the points to draw, from 0: fewer accepted rows of equal certainty are as good as all."""
    n_steps = len(curve.coverages)
    kept = np.unique(np.linspace(0, n_steps - 1, min(n_steps, MOST_POINTS)).astype(int))
    points = list(zip(curve.coverages[kept].tolist(), curve.risks[kept].tolist(), strict=True))
    return [(0.0, points[0][1]), *points]


def _legend(rejection: Rejection) -> list[Html]:
    """Return a line and a name for each curve, if there are several."""
    if len(rejection.curves) < 2:
        return []
    parts = []
    for number, curve in enumerate(rejection.curves):
        height, right = HEIGHT - BOTTOM - 32 + 18 * number, WIDTH - RIGHT
        ends = f"{right - 38},{height} {right - 10},{height}"
        parts.append(element("polyline", points=ends, class_=_style(number)))
        parts.append(element("text", curve.method, x=str(right - 44), y=str(height + 4), class_="legend"))
    return parts


def _style(number: int) -> str:
    return "curve other" if number else "curve model"

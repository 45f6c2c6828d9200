"""The section about calibration, with the reliability curve."""

from __future__ import annotations

from lann._format import percent
from lann._markup import Html, element, header_cell, table
from lann.report._evaluation.reliability import Reliability
from lann.report._evaluation.texts import share, share_interval

# Of the drawing: its size, margins, and the largest radius of a point.
WIDTH, HEIGHT = 460, 400
LEFT, RIGHT, TOP, BOTTOM = 56, 16, 14, 46
RADIUS = 13.0


def reliability_section(reliability: Reliability) -> Html:
    """Return the section about calibration."""
    names = ("rows", "wrong", "mean", "accuracy", "95% interval")
    header = [
        header_cell("probability"),
        *[header_cell(name, number=True) for name in names],
        header_cell(""),
    ]
    lines = [
        element(
            "tr",
            element("th", f"{part.low:.0%} to {part.high:.0%}", scope="row"),
            element("td", f"{part.n_rows:,}", class_="number"),
            element("td", f"{part.n_wrong:,}", class_="number"),
            element("td", share(part.mean_probability), class_="number"),
            element("td", share(part.accuracy.value), class_="number"),
            element("td", share_interval(part.accuracy), class_="number"),
            element("td", verdict(part.mean_probability, part.accuracy.value) if part.is_off else ""),
        )
        for part in reliability.bins
    ]
    return element(
        "section",
        element("h2", "Are the probabilities right?", id="reliability"),
        element("p", " ".join([*reliability.sentences, reliability.share_of_mistakes]), class_="lead"),
        element("p", reliability.verdict),
        element(
            "div",
            _curve(reliability),
            table("Reliability", header, lines, class_="reliability"),
            class_="side-by-side",
        ),
        element(
            "p",
            "Rows are grouped by the probability of their prediction. A point on the line: the probability "
            "is right. Below the line: the model is too sure. The size of a point is its number of rows, and "
            "the vertical line its 95% interval.",
            class_="hint",
        ),
        aria_labelledby="reliability",
    )


def verdict(mean_probability: float, accuracy: float) -> str:
    """Return whether a model is too sure or too cautious."""
    return "too sure" if mean_probability > accuracy else "too cautious"


def _curve(reliability: Reliability) -> Html:
    """Return the reliability curve as a drawing."""
    bins = reliability.bins
    start = min(bins[0].low, bins[0].mean_probability)

    def x(probability: float) -> str:
        return f"{LEFT + (probability - start) / (1 - start) * (WIDTH - LEFT - RIGHT):.1f}"

    def y(accuracy: float) -> str:
        return f"{HEIGHT - BOTTOM - accuracy * (HEIGHT - TOP - BOTTOM):.1f}"

    ticks = [tick / 10 for tick in range(0, 11, 2)]
    parts = [element("line", x1=x(start), x2=x(1), y1=y(tick), y2=y(tick), class_="grid") for tick in ticks]
    parts += [
        element("text", f"{tick:.0%}", x=str(LEFT - 8), y=y(tick), class_="tick vertical-tick")
        for tick in ticks
    ]
    steps = [tick / 10 for tick in range(11) if tick / 10 >= start - 1e-9 and (start >= 0.4 or tick % 2 == 0)]
    parts += [
        element("text", f"{tick:.0%}", x=x(tick), y=str(HEIGHT - BOTTOM + 18), class_="tick")
        for tick in steps
    ]
    parts.append(element("line", x1=x(start), x2=x(1), y1=y(start), y2=y(1), class_="ideal"))
    points = " ".join(f"{x(part.mean_probability)},{y(part.accuracy.value)}" for part in bins)
    parts.append(element("polyline", points=points, class_="curve"))
    largest = max(part.n_rows for part in bins)
    for part in bins:
        middle = x(part.mean_probability)
        radius = max(RADIUS * (part.n_rows / largest) ** 0.5, 2.5)
        low, high = y(part.accuracy.low), y(part.accuracy.high)
        parts.append(element("line", x1=middle, x2=middle, y1=low, y2=high, class_="range"))
        parts.append(
            element(
                "circle",
                element("title", part.sentence),
                cx=middle,
                cy=y(part.accuracy.value),
                r=f"{radius:.1f}",
                class_="point",
            )
        )
    middle_x = f"{(LEFT + WIDTH - RIGHT) / 2:.0f}"
    middle_y = f"{(TOP + HEIGHT - BOTTOM) / 2:.0f}"
    parts.append(
        element("text", "probability of the prediction", x=middle_x, y=str(HEIGHT - 8), class_="axis")
    )
    turned = f"rotate(-90 14 {middle_y})"
    parts.append(
        element("text", "share that is correct", x="14", y=middle_y, transform=turned, class_="axis")
    )
    said = ", ".join(f"{percent(part.mean_probability)}: {percent(part.accuracy.value)}" for part in bins)
    return element(
        "svg",
        element("title", "Reliability curve"),
        *parts,
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"Reliability curve, accuracy by probability: {said}",
        class_="curve-drawing",
    )

"""The explorer: size of the file, time to open it, latency of clicks, of what-if and of moving the map.

Pages of generated tables, whose numbers are all different, are opened in headless Chromium. Times are those
that a person waits: from the start of the script of the page to the first map, from a click to the whole view
of the row, from the change of a value to the new prediction with its neighbors and its place on the map.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import (
    NAN,
    Benchmark,
    Check,
    Found,
    Job,
    Report,
    Results,
    Table,
    Values,
    check,
    positive,
)
from benchmarks.tabular import find_file

# Rows, columns, and what is to be reached: megabytes, seconds to the first map, milliseconds of what-if.
PAGES = {
    "10 000 × 30": (10_000, 30, 6.0, 2.0, 30.0),
    "100 000 × 20": (100_000, 20, 25.0, 4.0, 80.0),
}
MOST_CLICK, MOST_FRAME, MOST_COMMAND = 100.0, 50.0, 10.0
# Milliseconds from the selection of a row until its whole view is there.
CLICKS = """
(async () => {
  const { rows, state } = lannExplorer;
  const times = [];
  for (let k = 0; k < %d; k++) {
    const i = (k * 7919) %% rows.nRows;
    const start = performance.now();
    state.set({ row: rows.key(i), tab: "row" });
    const isThere = () => document.querySelector("#panel-row h2")?.textContent === rows.name(i);
    while (!isThere()) await new Promise((done) => setTimeout(done));
    document.body.offsetHeight;
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 50));
  }
  return JSON.stringify(times);
})()
"""
# Milliseconds from the move of a slider until prediction, neighbors and the place on the map are shown.
CHANGES = """
(async () => {
  const { state, whatIf } = lannExplorer;
  state.set({ tab: "whatif" });
  await new Promise((done) => setTimeout(done, 500));
  const slider = document.querySelector("#panel-whatif input[type=range]");
  const [low, high] = [slider.min, slider.max].map(Number);
  const times = [];
  for (let k = 0; k < %d; k++) {
    const start = performance.now();
    slider.value = String(low + (high - low) * (((k * 37) %% 101) / 101));
    slider.dispatchEvent(new Event("input"));
    while (whatIf.isBusy) await new Promise((done) => setTimeout(done));
    times.push(performance.now() - start);
    await new Promise((done) => setTimeout(done, 20));
  }
  return JSON.stringify(times);
})()
"""
# Milliseconds between frames while the map is moved and zoomed, and how it is drawn.
FRAMES = """
(async () => {
  const { points } = lannExplorer.map;
  const times = [];
  let last = performance.now();
  for (let k = 0; k < 60; k++) {
    if (k < 30) points.pan(5, 3);
    else points.zoom(k < 45 ? 1.1 : 1 / 1.1);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  return JSON.stringify([times.slice(1), points.painter.name]);
})()
"""


def measure_page(n_rows: int, n_columns: int, method: str, repeats: int) -> Found:
    """Fit a model to generated rows, write its page, and open it."""
    from sklearn.datasets import make_classification

    import lann
    from tests.browser.chromium import Browser, Page, find_program

    program = find_program()
    if program is None:
        raise RuntimeError("there is no Chromium")
    X, y = make_classification(n_rows, n_columns, n_informative=8, n_classes=3, random_state=0)
    model = lann.LANNClassifier(random_state=0).fit(X, y)
    with tempfile.TemporaryDirectory() as folder:
        file, start = Path(folder, "explorer.html"), time.perf_counter()
        lann.explore(model, method=method, n_reasons=500).save(file)
        seconds, size = time.perf_counter() - start, file.stat().st_size
        browser = Browser(program, Path(folder))
        page = Page(browser, file.as_uri(), 1440, "light")
        page.wait_for("document.documentElement.dataset.model === 'yes'")
        timings = json.loads(page.evaluate("JSON.stringify(lannExplorer.timings)"))
        clicks, changes = (json.loads(page.result_of(code % repeats)) for code in (CLICKS, CHANGES))
        frames, painter = json.loads(page.result_of(FRAMES))
        browser.close()
    values = {
        "megabytes": size / 1e6, "seconds to write": seconds, "map": timings["map"] / 1e3,
        "model": timings["model"] / 1e3, "frame": max(frames), "painter": painter,
    }  # fmt: skip
    for name, times in (("click", clicks), ("change", changes)):
        values |= {f"{name} p50": float(np.median(times)), f"{name} p95": float(np.quantile(times, 0.95))}
    return {"page": values}


def time_command(file: Path) -> Found:
    """Time `lann explore` on a table in a new process."""
    code = "import sys; from lann.cli import main; main()"
    with tempfile.TemporaryDirectory() as folder:
        out, start = Path(folder, "explorer.html"), time.perf_counter()
        arguments = ["explore", str(file), "--target", "target", "-o", str(out)]
        subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True)
        return {"command": {"seconds": time.perf_counter() - start, "megabytes": out.stat().st_size / 1e6}}


class Explore(Benchmark):
    parts = ("pages", "commands")
    main_score = "change p95"
    quick = "1000 rows, principal components."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--repeats", type=positive, default=100, help="Clicks and changes. Default: 100.")

    def jobs(self) -> Iterator[Job]:
        quick = self.options.quick
        pages = {"1000 × 5": (1000, 10)} if quick else {name: page[:2] for name, page in PAGES.items()}
        if "pages" in self.chosen:
            for name, size in pages.items():
                method, repeats = "pca" if quick else "umap", 5 if quick else self.options.repeats
                yield Job("pages", "page", name, 0, partial(measure_page, *size, method, repeats))
        file, missing = find_file("mixed/titanic.csv.gz")
        if missing:
            self.skipped["titanic"] = missing
        elif "commands" in self.chosen:
            yield Job("commands", "command", "titanic", 0, partial(time_command, file))

    def report(self, results: Results) -> Report:
        rows, checks = [], []
        for (part, _, name), repeats in results.cells.items():
            if part == "pages":
                rows.append((name, *_shown(repeats[0])))
                checks += _page_checks(name, repeats[0])
        command = results.first("commands", "command", "titanic")
        seconds = NAN if command is None else command["seconds"]
        checks.append(check("seconds of `lann explore` on Titanic", seconds, most=MOST_COMMAND))
        header = (
            "rows × columns", "MB", "written in s", "map after s", "model after s", "click ms", "p95",
            "what-if ms", "p95", "slowest frame ms", "drawn by",
        )  # fmt: skip
        return Report("Pages of LANNClassifier in headless Chromium.", [Table("Pages", header, rows)], checks)


def _shown(values: Values) -> tuple[str, ...]:
    names = (
        "megabytes",
        "seconds to write",
        "map",
        "model",
        "click p50",
        "click p95",
        "change p50",
        "change p95",
    )
    return (*(f"{values[name]:.1f}" for name in names), f"{values['frame']:.0f}", values["painter"])


def _page_checks(name: str, values: Values) -> list[Check]:
    if name not in PAGES:
        return []
    _, _, megabytes, seconds, change = PAGES[name]
    return [
        check(f"{name}: megabytes", values["megabytes"], most=megabytes),
        check(f"{name}: seconds to the first map", values["map"], most=seconds),
        check(f"{name}: click p95, ms", values["click p95"], most=MOST_CLICK),
        check(f"{name}: what-if p95, ms", values["change p95"], most=change),
        check(f"{name}: slowest frame, ms", values["frame"], most=MOST_FRAME),
    ]


BENCHMARK = Explore

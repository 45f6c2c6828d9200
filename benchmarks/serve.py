"""The service: many clients at a time, beside a loop of `predict` on batches of the same size.

The service runs in a process of its own, the clients in another; each keeps a connection and sends the next
batch when it has the answer to the last one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.harness import (
    Benchmark,
    Check,
    Found,
    Job,
    Report,
    Results,
    Table,
    check,
    positive,
)

ROWS, COLUMNS = 10_000, 20
N_CLIENTS = 100
# Of the rows per second of a loop in one process.
LEAST_SHARE = 0.5
# Growth of the memory of the service from a tenth of the time to its end.
MOST_GROWTH = 1.1
N_BODIES = 20


def memory_of(process: int) -> float:
    """Return the resident memory of a process in megabytes."""
    pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    return pages * 4096 / 1e6


async def _client(port: int, bodies: list[bytes], end: float, first: int, times: list[float]) -> int:
    """Send batches until the end, and return the number of errors."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    n_errors = at = 0
    while time.perf_counter() < end:
        body, start = bodies[(first + at) % len(bodies)], time.perf_counter()
        head = "POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(answer.split("content-length: ")[1].split("\r\n")[0])
        await reader.readexactly(length)
        times.append(time.perf_counter() - start)
        n_errors += " 200 " not in answer.split("\r\n")[0]
        at += 1
    writer.close()
    return n_errors


async def _ask(process: Any, port: int, bodies: list[bytes], seconds: float) -> dict[str, float]:
    """Let the clients ask, and return what was seen."""
    times: list[float] = []
    start = time.perf_counter()
    clients = [
        asyncio.create_task(_client(port, bodies, start + seconds, client, times))
        for client in range(N_CLIENTS)
    ]
    await asyncio.sleep(seconds / 10)
    before = memory_of(process.pid)
    n_errors = sum(await asyncio.gather(*clients))
    elapsed, after = time.perf_counter() - start, memory_of(process.pid)
    return {
        "requests": len(times) / elapsed, "p50": 1e3 * float(np.median(times)),
        "p95": 1e3 * float(np.quantile(times, 0.95)), "errors": float(n_errors),
        "before": before, "after": after,
    }  # fmt: skip


def measure(batch: int, seconds: float) -> Found:
    """Measure the service and the loop with batches of some rows."""
    from sklearn.datasets import make_classification

    from lann.tables import TableModel

    X, y = make_classification(ROWS + batch * N_BODIES, COLUMNS, n_informative=8, n_classes=3, random_state=0)
    frame = pd.DataFrame(X).add_prefix("column ").assign(label=y)
    model, new = TableModel.fit(frame[:ROWS], "label"), frame[ROWS:].drop(columns="label")
    batches = [new[start : start + batch] for start in range(0, len(new), batch)]
    bodies = [json.dumps({"rows": part.to_dict("records")}).encode() for part in batches]
    n_done, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < seconds / 6:
        model.predict(batches[n_done % N_BODIES])
        n_done += 1
    loop = n_done * batch / elapsed
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "model.lann")
        model.save(file)
        code = "from lann.cli import main; main()"
        process = subprocess.Popen(
            [sys.executable, "-c", code, "serve", str(file), "--port", "0"], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        port = int(process.stdout.readline().split(";")[0].rpartition(":")[2])
        found = asyncio.run(_ask(process, port, bodies, seconds))
        process.terminate()
        process.wait()
    return {"service": found | {"loop": loop, "rows": found["requests"] * batch}}


class Serve(Benchmark):
    parts = ("load",)
    main_score = "p95"
    quick = "2 seconds for each size of batches."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--seconds", type=positive, default=60, help="Time of the load. Default: 60.")

    def jobs(self) -> Iterator[Job]:
        seconds = 2 if self.options.quick else self.options.seconds
        for batch in (1, 100):
            yield Job("load", "service", str(batch), 0, partial(measure, batch, seconds))

    def report(self, results: Results) -> Report:
        rows, checks = [], []
        for (_, _, batch), repeats in results.cells.items():
            values = repeats[0]
            share, growth = values["rows"] / values["loop"], values["after"] / values["before"]
            rows.append(
                (
                    batch, f"{values['requests']:.0f}", f"{values['rows']:.0f}", f"{values['loop']:.0f}",
                    f"{share:.2f}", f"{values['p50']:.0f}", f"{values['p95']:.0f}",
                    f"{values['before']:.0f} → {values['after']:.0f}", f"{values['errors']:.0f}",
                )
            )  # fmt: skip
            checks += _checks(batch, values["errors"], share, growth)
        header = (
            "rows of a request", "requests/s", "rows/s", "rows/s of a loop", "ratio", "p50 ms", "p95 ms",
            "memory MB", "errors",
        )  # fmt: skip
        title = f"{N_CLIENTS} clients of one process, {ROWS} × {COLUMNS} training rows."
        return Report(title, [Table("Load", header, rows)], checks)


def _checks(batch: str, n_errors: float, share: float, growth: float) -> list[Check]:
    return [
        check(f"batches of {batch}: errors", n_errors, most=0),
        check(f"batches of {batch}: rows per second of those of a loop", share, least=LEAST_SHARE),
        check(f"batches of {batch}: memory at the end of that at the start", growth, most=MOST_GROWTH),
    ]


BENCHMARK = Serve

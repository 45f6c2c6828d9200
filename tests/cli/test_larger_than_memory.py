"""A Parquet file ten times as large as the memory that a process may take: it is fitted and predicted."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

pa = pytest.importorskip("pyarrow")
pc = pytest.importorskip("pyarrow.compute")
pq = pytest.importorskip("pyarrow.parquet")
resource = pytest.importorskip("resource")

ALLOWED = 40_000_000
N_ROWS, GROUP_ROWS = 76_000, 2_000
# What is freed is given back to the system, so that the limit is about what is in use.
ALLOCATORS = {
    "ARROW_DEFAULT_MEMORY_POOL": "system", "MALLOC_ARENA_MAX": "1", "MALLOC_MMAP_THRESHOLD_": "131072",
}  # fmt: skip
CHILD = """
import json, resource, sys
from typer.testing import CliRunner
from lann.cli.commands import app
from lann.tables import TableModel, read_table

def run(*arguments):
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, (result.output, result.exception)
    return result.output

def taken():
    status = dict(line.split(":", 1) for line in open("/proc/self/status"))
    return {name: int(status[name].split()[0]) * 1024 for name in ("VmData", "VmRSS", "VmHWM")}

def peak():
    # Of this process alone: the resource usage includes the process that started it.
    return taken()["VmHWM"]

small, large, allowed = sys.argv[1], sys.argv[2], int(sys.argv[3])
common = ["--target", "y", "--no-cv", "--jobs", "1", "--max-rows", "1000"]
# What is imported, compiled or kept for later is not counted.
run("fit", small, *common, "-o", "small.lann")
run("predict", "small.lann", small, "-o", "small.csv")
TableModel.load("small.lann").predict_file(small, "small.csv")
read_table(small)
before = taken()
try:
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak so far, of compiling, is forgotten
except OSError:
    before["VmRSS"] = peak()
limit = before["VmData"] + allowed
resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
printed = run("fit", large, *common, "-o", "large.lann")
printed += run("predict", "large.lann", large, "-o", "large.csv")
own_peak = peak() - before["VmRSS"]
try:
    read_table(large)
    fails = False
except MemoryError:
    fails = True
print(json.dumps({"peak": own_peak, "whole_fails": fails, "printed": printed}))
"""


def write(path, n_rows, group_rows):
    """Write a table with eight numbers and a note of 5300 characters in each row."""
    rng = np.random.default_rng(0)
    texts = pa.array(["".join(rng.choice(list("abcdefgh"), 100)) * 53 for _ in range(20)])
    with pq.ParquetWriter(path, _group(rng, texts, 1).schema, use_dictionary=False) as writer:
        for _ in range(n_rows // group_rows):
            writer.write_table(_group(rng, texts, group_rows))


def _group(rng, texts, n_rows):
    numbers = rng.normal(size=(n_rows, 8))
    columns = {f"x{j}": numbers[:, j] for j in range(8)}
    starts, ends = (pa.array(rng.integers(0, 2**60, n_rows)).cast(pa.string()) for _ in range(2))
    middle = texts.take(pa.array(rng.integers(0, len(texts), n_rows)))
    columns["note"] = pc.binary_join_element_wise(starts, middle, ends, " ")
    columns["y"] = np.where(numbers[:, 0] + np.abs(numbers[:, 1]) > 0.8, "yes", "no")
    return pa.table(columns)


@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="limits are set as on Linux")
def test_fit_and_predict_within_a_tenth_of_the_size_of_the_file(tmp_path):
    write(tmp_path / "small.parquet", 2000, 1000)
    write(tmp_path / "large.parquet", N_ROWS, GROUP_ROWS)
    metadata = pq.read_metadata(tmp_path / "large.parquet")
    n_bytes = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    assert n_bytes >= 10 * ALLOWED
    result = subprocess.run(
        [sys.executable, "-c", CHILD, "small.parquet", "large.parquet", str(ALLOWED)],
        cwd=tmp_path,
        env=os.environ | ALLOCATORS,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout.splitlines()[-1])
    print(f"peak of fit and predict: {found['peak'] / 1e6:.0f} MB; table: {n_bytes / 1e6:.0f} MB")
    assert found["whole_fails"]
    assert found["peak"] < ALLOWED
    assert "1,000 of 76,000 rows are drawn at random" in found["printed"]
    assert "76,000 predictions" in found["printed"]
    predictions = pd.read_csv(tmp_path / "large.csv")
    assert len(predictions) == N_ROWS
    assert (predictions["label"] == predictions["prediction"]).mean() > 0.8

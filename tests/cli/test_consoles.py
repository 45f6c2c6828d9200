from __future__ import annotations

import os
import re
import subprocess
import sys

import pytest

from lann.cli.output import results

PROGRAM = """
from lann.cli.output import progress, step
with progress(quiet={quiet}) as bar:
    report = step(bar, "Reading [kg]")
    bar.refresh()
    report = step(bar, "Fitting")
    for done in range(1, 6):
        report(done, 10)
        bar.refresh()
print("done")
"""


def in_terminal(program: str, *, stdout_to_terminal: bool = True) -> tuple[str, str]:
    """Run a program whose stderr is a terminal; return what the terminal and what a pipe has got."""
    pty = pytest.importorskip("pty", reason="there are no pseudo-terminals")
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", program],
        stdout=theirs if stdout_to_terminal else subprocess.PIPE,
        stderr=theirs,
        env=os.environ
        | {"TERM": "xterm-256color", "COLUMNS": "100", "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    os.close(theirs)
    piped = "" if process.stdout is None else process.stdout.read().decode()
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(ours)
    if process.stdout is not None:
        process.stdout.close()
    assert process.wait() == 0
    return shown.decode(), piped


def test_a_terminal_gets_the_time_that_is_left():
    shown, _ = in_terminal(PROGRAM.format(quiet=False))
    assert "Reading [kg]" in shown  # not markup
    assert "Fitting" in shown
    assert "50%" in shown
    assert re.search(r"\d:\d\d:\d\d", shown)
    assert shown.rstrip().endswith("done")


def test_no_progress_where_output_is_piped_or_json():
    shown, piped = in_terminal(PROGRAM.format(quiet=False), stdout_to_terminal=False)
    assert "Fitting" not in shown
    assert piped == "done\n"
    shown, _ = in_terminal(PROGRAM.format(quiet=True))
    assert "Fitting" not in shown


def test_texts_cannot_change_the_terminal(capsys):
    from rich.table import Table

    console, hostile = results(), "\x1b[31mred\x9b\rx\ty"
    table = Table(title=hostile)
    table.add_column(hostile)
    table.add_row(hostile)
    console.print(hostile)
    console.print(table)
    shown = capsys.readouterr().out
    assert shown.count(r"\x1b[31mred\x9b\rx\ty") == 4
    assert not set("\x1b\x9b\r\t") & set(shown)

"""Signals end a command with an exit code, one line at most, and no file."""

import signal
import subprocess
import sys

import pytest

# Sends a signal at an event of Python: at the import of a module, or as a file gets its name.
PROGRAM = """
import os, signal, sys
event, argument, number = sys.argv[1], sys.argv[2], int(sys.argv[3])
del sys.argv[1:4]
def send(name, arguments):
    global event
    if name == event and str(arguments[0]).startswith(argument):
        event = None
        os.kill(os.getpid(), number)
from lann.cli import main
sys.addaudithook(send)
main()
"""


@pytest.fixture
def run_signaled(csv, model, tmp_path):
    """Run `lann predict`, with a signal at an event; return the process that has ended, and new files."""

    def run(event, argument, number=signal.SIGINT):
        before = set(tmp_path.iterdir())
        output = tmp_path / "out.csv"
        command = ["predict", str(model), str(csv), "-o", str(output)]
        ended = subprocess.run(
            [sys.executable, "-c", PROGRAM, event, argument, str(int(number)), *command],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        return ended, set(tmp_path.iterdir()) - before

    return run


@pytest.mark.parametrize(
    ("event", "argument"),
    [("import", "lann.cli.commands"), ("import", "sklearn"), ("import", "lann.search"), ("os.rename", "")],
)
def test_ctrl_c_has_exit_code_130(run_signaled, event, argument):
    ended, new = run_signaled(event, argument)
    assert ended.returncode == 130, ended.stderr
    assert ended.stderr == "Interrupted.\n"
    assert ended.stdout == ""
    assert not new


def test_sigterm_leaves_no_file(run_signaled):
    ended, new = run_signaled("os.rename", "", signal.SIGTERM)
    assert ended.returncode == 143
    assert ended.stderr == ""
    assert not new

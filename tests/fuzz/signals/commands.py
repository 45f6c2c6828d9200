"""Commands that are interrupted at any moment, imports included."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tests.fuzz.outcomes import FOREIGN, HANG, RIGHT, WRONG, Outcome
from tests.fuzz.signals.details import COMPLETE, INTERRUPTED

ENTRY = "from lann.cli import main; main()"
COMMANDS = {
    "fit": ["fit", "data.csv", "--target", "group", "--no-cv", "-o", "new.lann"],
    "predict": ["predict", "model.lann", "data.csv", "-o", "new.csv"],
    "explain": ["explain", "model.lann", "data.csv", "--html", "new.html", "--rows", "0:3"],
    "evaluate": ["evaluate", "model.lann", "data.csv", "--html", "new.html"],
}
INPUTS = ("data.csv", "model.lann")
OLD = b"what was there before"
EXIT_CODE = 130
SECONDS = 60.0


def prepare_commands(folder: Path) -> None:
    """
    Write a table and a model.

    Parameters
    ----------
    folder
        Of all files.
    """
    from lann.tables import fit_table

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    frame["group"] = np.where(frame["a"] > 0, "in", "out")
    frame.to_csv(folder / "data.csv", index=False)
    fit_table(frame, "group").save(folder / "model.lann")


def interrupt_command(name: str, share: float, folder: Path, number: int = signal.SIGINT) -> Outcome:
    """
    Send a signal to a command, and check its exit code, what it prints and which files are left.

    Parameters
    ----------
    name
        Of the command.
    share
        Of the time that the command takes.
    folder
        Where it runs.
    number
        Of the signal.
    """
    arguments = COMMANDS[name]
    own = folder / f"{name}-{os.getpid()}"  # other processes write, too
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    for file in INPUTS:
        shutil.copy(folder / file, own)
    started = time.perf_counter()
    run_command(arguments, own)
    seconds = time.perf_counter() - started
    output = next(path for path in own.iterdir() if path.name not in INPUTS)
    complete = output.read_bytes()
    output.write_bytes(OLD)
    outcome = signal_command(arguments, share * seconds, own, number)
    if outcome.kind != RIGHT:
        return outcome
    return check_files(outcome, output, complete)


def without_times(content: bytes) -> bytes:
    """Return a content without the time at which a page was made."""
    return re.sub(rb"20\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?", b"", content)


def check_files(outcome: Outcome, output: Path, complete: bytes) -> Outcome:
    """
    Return the outcome, or that files are not as they must be.

    Parameters
    ----------
    outcome
        Of a command that was interrupted, or complete before.
    output
        The file that it writes, which had the content `OLD`.
    complete
        Its content if the command is complete.
    """
    names = sorted(path.name for path in output.parent.iterdir())
    if names != sorted([*INPUTS, output.name]):
        return Outcome(WRONG, outcome.name, f"Files are left: {names}.")
    allowed = [without_times(complete)] + [OLD] * (outcome.detail != COMPLETE)
    if without_times(output.read_bytes()) not in allowed:
        return Outcome(WRONG, outcome.name, f"{output.name} is neither the old nor the complete new file.")
    return outcome


def run_command(arguments: list[str], folder: Path) -> None:
    """
    Run a command, which has to succeed.

    Parameters
    ----------
    arguments
        Of the command.
    folder
        Where it runs.
    """
    subprocess.run([sys.executable, "-c", ENTRY, *arguments], cwd=folder, check=True, capture_output=True)


def signal_command(arguments: list[str], after: float, folder: Path, number: int = signal.SIGINT) -> Outcome:
    """
    Send a signal to a command when it runs for some time.

    Parameters
    ----------
    arguments
        Of the command.
    after
        Seconds after `lann` is imported: before, Python itself would print a traceback.
    folder
        Where it runs.
    number
        Of the signal.
    """
    program = f"import lann.cli; print('ready', flush=True); {ENTRY}"
    command = [sys.executable, "-c", program, *arguments]
    name = f"lann {arguments[0]}"
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        process.stdout.readline()
        time.sleep(after)
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return Outcome(HANG, name, f"more than {SECONDS:g} s after the signal")
    if process.returncode == 0:
        return Outcome(RIGHT, name, COMPLETE)
    expected = EXIT_CODE if number == signal.SIGINT else 128 + number
    if process.returncode != expected or errors not in ("", "Interrupted.\n"):
        return Outcome(FOREIGN, name, f"exit code {process.returncode}: {errors[-500:]}", errors)
    return Outcome(RIGHT, name, INTERRUPTED)

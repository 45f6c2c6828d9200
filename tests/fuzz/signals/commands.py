"""Commands that are interrupted at any moment, imports included."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pandas as pd

from tests.fuzz.outcomes import FOREIGN, HANG, RIGHT, WRONG, Outcome

ENTRY = "from lann.cli import main; main()"
COMMANDS = {
    "fit": ["fit", "data.csv", "--target", "group", "--no-cv", "-o", "{name}/out.lann"],
    "predict": ["predict", "model.lann", "data.csv", "-o", "{name}/out.csv"],
    "explain": ["explain", "model.lann", "data.csv", "--html", "{name}/out.html", "--rows", "0:3"],
    "evaluate": ["evaluate", "model.lann", "data.csv", "--html", "{name}/out.html"],
}
INTERRUPTED = 130
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
    own = f"{name}-{os.getpid()}"
    (folder / own).mkdir(exist_ok=True)
    arguments = [argument.format(name=own) for argument in COMMANDS[name]]
    started = time.perf_counter()
    run_command(arguments, folder)
    seconds = time.perf_counter() - started
    return signal_command(arguments, share * seconds, folder, own, number)


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


def signal_command(
    arguments: list[str], after: float, folder: Path, own: str, number: int = signal.SIGINT
) -> Outcome:
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
    own
        The beginning of the names of its files.
    number
        Of the signal.
    """
    program = f"import lann.cli; print('ready', flush=True); {ENTRY}"
    command = [sys.executable, "-c", program, *arguments]
    name = f"lann {arguments[0]}"
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        before = _contents(folder / own)
        process.stdout.readline()
        time.sleep(after)
        process.send_signal(number)
        try:
            _, errors = process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return Outcome(HANG, name, f"more than {SECONDS:g} s after the signal")
    after_it = _contents(folder / own)
    if set(after_it) != set(before):
        return Outcome(WRONG, name, f"There were the files {sorted(before)}, and are {sorted(after_it)}.")
    if process.returncode == 0:
        return Outcome(RIGHT, name, "complete")
    cut = [path for path, content in after_it.items() if len(content) < len(before[path]) / 2]
    if cut:
        return Outcome(WRONG, name, f"Files are not complete: {cut}.")
    expected = INTERRUPTED if number == signal.SIGINT else 128 + number
    if process.returncode != expected or errors not in ("", "Interrupted.\n"):
        return Outcome(FOREIGN, name, f"exit code {process.returncode}: {errors[-500:]}", errors)
    return Outcome(RIGHT, name, "interrupted")


def _contents(folder: Path) -> dict[str, bytes]:
    """Return the contents of the files of a folder, hidden ones too, by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}

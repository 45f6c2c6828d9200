"""Run the commands of commands.md again, and write what they print into the page.

`python docs/run_commands.py` takes some minutes. Run it after a change of what commands print or of what
models learn, and look at the difference. A block with a command that fails, such as one with titanic.csv,
stays as it is.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).with_name("commands.md")
COMMAND = re.compile(r"\$ (.*)")
ENTRY = "import sys; sys.argv[0] = 'lann'; from lann.cli import main; main()"


def run(command: str, folder: Path) -> str | None:
    """Return what a command prints, None if it fails; `lann` is that of this interpreter."""
    settings = {"COLUMNS": "80", "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        command,
        shell=True,
        cwd=folder,
        env=os.environ | settings,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode or done.stderr:
        print(f"stays as it is: {command}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    lines = [line.rstrip() for line in done.stdout.splitlines()]
    return "\n".join(lines).strip("\n")


def updated(block: str, folder: Path) -> str:
    """Return a block with the present output of its commands; as it is if one of them fails."""
    parts = []
    for command in COMMAND.findall(block):
        output = run(command, folder)
        if output is None:
            return block
        parts.append(f"$ {command}\n{output}")
    return "\n".join(parts) + "\n"


def main() -> None:
    """Make the tables of the page, run its commands in order, and write the page."""
    text = PAGE.read_text(encoding="utf-8")
    tables = re.search(r"```python\n(.*?)```", text, flags=re.DOTALL)
    assert tables is not None, "the first block of Python on the page makes the tables"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bin").mkdir()
        script = folder / "bin" / "lann"
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{ENTRY}" "$@"\n')
        script.chmod(0o755)
        subprocess.run([sys.executable, "-c", tables.group(1)], cwd=folder, check=True)
        text = re.sub(
            r"(?<=```console\n)(\$ .*?)(?=```)",
            lambda match: updated(match.group(1), folder),
            text,
            flags=re.DOTALL,
        )
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

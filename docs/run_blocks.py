"""Run the blocks of the pages again, and write what they print into the pages.

`python docs/run_blocks.py` takes some minutes; `python docs/run_blocks.py docs/guide/explain.md` runs
one page. Run it after a change of what commands print or of what models learn, and look at the
difference. The blocks of a page share a folder and the names that they define:

- what a block of Python prints is the block of text behind it, if there is one;
- a block of the console with `$ ` in front of its commands is written with their output. One with a
  command that fails, such as one with titanic.csv, stays as it is.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path

DOCS = Path(__file__).parent
# A block of Python, and the text that it prints; a block with commands.
PYTHON = r"```python\n(?P<code>.*?)```\n(?:\n```text\n(?P<output>.*?)```\n)?"
CONSOLE = r"```console\n(?P<commands>\$ .*?)```\n"
BLOCK = re.compile(f"{PYTHON}|{CONSOLE}", flags=re.DOTALL)
COMMAND = re.compile(r"^\$ (.*)", flags=re.MULTILINE)
ENTRY = "import sys; sys.argv[0] = 'lann'; from lann.cli import main; main()"


def pages() -> list[Path]:
    """Return the pages that have blocks to run."""
    found = [DOCS.parent / "README.md", *sorted(DOCS.rglob("*.md"))]
    return [page for page in found if BLOCK.search(page.read_text("utf-8")) and "_build" not in page.parts]


def run_python(code: str, names: dict[str, object], title: str) -> str:
    """Run a block of Python, and return what it prints."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exec(compile(code, title, "exec"), names)
    lines = [line.rstrip() for line in printed.getvalue().splitlines()]
    return "".join(f"{line}\n" for line in lines)


def run_command(command: str, folder: Path) -> str | None:
    """Return what a command prints, None if it fails; `lann` is that of this interpreter."""
    script = folder / "bin" / "lann"
    if not script.exists():
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec {sys.executable} -c "{ENTRY}" "$@"\n')
        script.chmod(0o755)
    settings = {"COLUMNS": "80", "PATH": f"{script.parent}{os.pathsep}{os.environ['PATH']}"}
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
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n")


def run_console(commands: str, folder: Path) -> str:
    """Return a block of the console with the output of its commands; as it is if one of them fails."""
    parts = []
    for command in COMMAND.findall(commands):
        output = run_command(command, folder)
        if output is None:
            return commands
        parts += [f"$ {command}\n", f"{output}\n" if output else ""]
    return "".join(parts)


def run_page(page: Path, folder: Path, *, console: Callable[[str, Path], str] = run_console) -> str:
    """Run the blocks of a page in a folder, and return the page with what they print."""
    names: dict[str, object] = {"__name__": page.stem}

    def updated(match: re.Match[str]) -> str:
        if match["commands"] is not None:
            return f"```console\n{console(match['commands'], folder)}```\n"
        printed = run_python(match["code"], names, page.name)
        block = f"```python\n{match['code']}```\n"
        return block if match["output"] is None else f"{block}\n```text\n{printed}```\n"

    with contextlib.chdir(folder):
        return BLOCK.sub(updated, page.read_text("utf-8"))


def main() -> None:
    """Run the pages that are given, by default all, and write them."""
    import matplotlib

    matplotlib.use("Agg")  # no screen is needed
    for page in [Path(name).resolve() for name in sys.argv[1:]] or pages():
        print(page.relative_to(DOCS.parent))
        with tempfile.TemporaryDirectory() as folder:
            text = run_page(page, Path(folder))
        page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

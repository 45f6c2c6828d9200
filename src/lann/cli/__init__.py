"""The `lann` command."""

from __future__ import annotations

import gc
import signal
import sys

__all__ = ["main"]

# What a shell reports of a program that was ended by Ctrl-C, or by SIGTERM.
INTERRUPTED, TERMINATED = 130, 143
SHOW_CURSOR = "\x1b[?25h"
# New objects after which Python looks for unused cycles: modules that are imported create many that are used.
COLLECT_AFTER = 50_000


def main() -> None:
    """Run the command line.

    Ctrl-C ends it with exit code 130 and one line on stderr, SIGTERM with 143, as soon as a compiled function
    that runs has returned. Files that are being written are removed in both cases.
    """
    gc.set_threshold(COLLECT_AFTER, *gc.get_threshold()[1:])
    try:
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(TERMINATED))
        # This takes a moment, in which users may interrupt it.
        from lann.cli.commands import app

        app()
    except KeyboardInterrupt:
        show_interrupt()
        sys.exit(INTERRUPTED)


def show_interrupt() -> None:
    """Say that a command was interrupted, on a terminal whose cursor a progress bar may have hidden."""
    cursor = SHOW_CURSOR if sys.stderr.isatty() else ""
    print(f"{cursor}Interrupted.", file=sys.stderr)

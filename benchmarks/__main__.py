"""The command line: `python -m benchmarks NAME [options]`."""

from __future__ import annotations

import sys

from benchmarks.engine.command import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

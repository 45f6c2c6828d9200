"""The command line: `python -m benchmarks NAME [options]`."""

import sys

from benchmarks.harness import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The peak memory of this process."""

from __future__ import annotations

import resource
import sys


def peak_memory() -> int:
    """Return the largest number of bytes that the process has held."""
    try:  # on Linux: of this process alone; the resource usage includes the process that started it
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def held_memory() -> int:
    """Return the number of bytes that the process holds now; where the system does not say, the peak."""
    try:  # on Linux
        with open("/proc/self/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        return peak_memory()


def reset_peak() -> int:
    """Start a new peak where the system allows it, and return the memory from which it is counted."""
    before = peak_memory()
    try:  # on Linux
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
        before = held_memory()
    except OSError:
        pass
    return before

"""What "right" means after a signal, in the details of outcomes."""

COMPLETE, INTERRUPTED, IGNORED = "complete", "interrupted", "ignored by Python"
# NumPy forgets any exception while it asks whether a type is one of ctypes, or compares one of pandas with its own.
FORGOTTEN = "forgotten by NumPy"

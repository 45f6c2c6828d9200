"""What "right" means after a signal, in the details of outcomes."""

COMPLETE, INTERRUPTED, IGNORED = "complete", "interrupted", "ignored by Python"
# NumPy forgets any exception while it looks at a type: whether it is of ctypes, or equal to one of pandas.
FORGOTTEN = "forgotten by NumPy"

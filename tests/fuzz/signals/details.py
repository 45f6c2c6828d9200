"""What "right" means after a signal, in the details of outcomes."""

COMPLETE, INTERRUPTED, IGNORED = "complete", "interrupted", "ignored by Python"
# NumPy forgets any exception of a type of pandas that it compares with one of its own.
FORGOTTEN = "forgotten by NumPy"

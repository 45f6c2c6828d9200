"""What "right" means after a signal, in the details of outcomes."""

COMPLETE, INTERRUPTED, IGNORED = "complete", "interrupted", "ignored by Python"

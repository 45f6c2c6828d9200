"""The baselines against the original programs, on the same splits."""

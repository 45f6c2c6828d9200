"""Reject option: classifiers that decline to answer, and the curves that measure it."""

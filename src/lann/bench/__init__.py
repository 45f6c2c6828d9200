"""The benchmarks behind `lann bench`: both sides run in one process, and what counts is their ratio."""

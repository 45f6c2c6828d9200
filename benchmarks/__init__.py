"""The benchmarks: `python -m benchmarks NAME`. They are not part of the installed package."""

"""What several benchmarks measure with: methods, data sets, splits and scores."""

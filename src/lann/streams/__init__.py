"""Classifiers for streams of rows whose distribution changes."""

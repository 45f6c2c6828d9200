"""Accuracy with missing values, at random and informative."""

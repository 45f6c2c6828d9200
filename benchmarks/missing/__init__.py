"""Accuracy of LANN and others with missing values, at random and informative."""

"""Accuracy and probabilities on tables with categories and gaps."""

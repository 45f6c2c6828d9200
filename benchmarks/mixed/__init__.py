"""Accuracy and probabilities of LANN and others on tables with categories and missing values."""

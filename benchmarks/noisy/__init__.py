"""Accuracy and probabilities of LANN and others on noisy data."""

"""Accuracy, probabilities and speed of SAMKNN, SAMLANN and river's classifiers on streams, row by row."""

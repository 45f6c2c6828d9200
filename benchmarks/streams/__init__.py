"""SAMKNN, SAMLANN and river's classifiers, row by row."""

"""Reject option of LANN and others: risk-coverage, local thresholds, rows unlike the training rows."""

"""Reject option of LANN and others: risk, coverage, far rows."""

"""Explanations against planted truth, and what they cost."""

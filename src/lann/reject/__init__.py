"""Reject option: classifiers that decline to answer, and the curves that measure it."""

from lann.reject._curves import (
    accuracy_reject_curve,
    aurc,
    precision_reject_curve,
    recall_reject_curve,
    risk_coverage_curve,
)
from lann.reject._held_out import HeldOut
from lann.reject._reject_option import RejectOption

__all__ = [
    "HeldOut",
    "RejectOption",
    "accuracy_reject_curve",
    "aurc",
    "precision_reject_curve",
    "recall_reject_curve",
    "risk_coverage_curve",
]

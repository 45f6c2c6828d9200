"""Reject option: classifiers that decline to answer, and the curves that measure it."""

from lann.reject._curves import (
    accuracy_reject_curve,
    aurc,
    precision_reject_curve,
    recall_reject_curve,
    risk_coverage_curve,
)
from lann.reject._plain_rows import Coordinates, PlainRows
from lann.reject._reject_option import HeldOut, RejectOption
from lann.reject._row_evidence import NoveltyScale

__all__ = [
    "Coordinates", "HeldOut", "NoveltyScale", "PlainRows", "RejectOption",
    "accuracy_reject_curve", "aurc", "precision_reject_curve", "recall_reject_curve", "risk_coverage_curve",
]  # fmt: skip

"""Interpretable locally adaptive nearest neighbours."""

from lann.classifier import LANNClassifier
from lann.explain import Explanation
from lann.persist import load, save

__all__ = ["Explanation", "LANNClassifier", "load", "save"]
__version__ = "0.1.0"

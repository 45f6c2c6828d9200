"""The encoding of a table: each feature becomes one or more axes."""

from lann.encoding._curves import FeatureCurves

__all__ = ["FeatureCurves"]

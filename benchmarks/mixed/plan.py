"""What the tables with categories are about."""

from __future__ import annotations

PART = "splits"
OURS, ONE_HOT, FOREST, BOOSTING = "lann", "lann-onehot", "forest", "boosting"

"""What a run of the noisy sets measures."""

from __future__ import annotations

PART = "splits"
OURS, KNN = "lann", "knn-cv"
COMPARED = (KNN, "forest", "boosting", "catboost", "lightgbm", "ebm", OURS)

"""Speed and memory, each figure with its target."""

# scikit-learn and faiss are to be as fast as they are by default.
ENVIRONMENT: dict[str, str] = {}

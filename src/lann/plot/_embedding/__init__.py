"""EmbeddingDisplay: its rows, validation, layout, markers, legend and panels."""

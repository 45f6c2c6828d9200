"""`lann bench embeddings`: how well embeddings tell classes apart, and what LANN's costs."""

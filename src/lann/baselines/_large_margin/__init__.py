"""Large margin nearest neighbors: LMNN and MultiMetricLMNN."""

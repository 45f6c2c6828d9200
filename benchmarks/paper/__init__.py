"""The paper's table: LANN, baselines and other learners compared."""

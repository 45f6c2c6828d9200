"""Accuracy and probabilities of LANN and other learners on ten sets with noisy labels."""

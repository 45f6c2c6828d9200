"""`lann bench explanations`: whether explanations find the truth, and what they cost."""

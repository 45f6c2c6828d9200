"""What a column is (number, category, bool or date), how its text becomes values, and how they are shown."""

"""Time, memory and accuracy from 10 000 to a million rows."""

"""How a point measures: one file a form."""

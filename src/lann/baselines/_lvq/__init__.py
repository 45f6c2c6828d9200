"""Generalized learning vector quantization: GRLVQ, GMLVQ, LGRLVQ and LGMLVQ."""

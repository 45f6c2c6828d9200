"""Time, memory and accuracy from 10 000 to a million rows, on wide tables, on covertype and with Dask."""

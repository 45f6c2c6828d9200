"""Mixed calls from threads: the same bits, and nothing that grows."""

"""Mixed calls from several threads: the same bits as from one, and no growth of memory, threads or files."""

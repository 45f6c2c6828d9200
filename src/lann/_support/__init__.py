"""Helpers for all packages: validation, files, threads, formats, and what differs between versions."""

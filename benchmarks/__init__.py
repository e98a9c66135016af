"""Measurements, each a ratio against a peer in the same run: ``python -m benchmarks.engine``, ``python -m benchmarks.front_ends``."""

"""Measurements, each a ratio against a peer in the same run: ``python -m benchmarks.engine``, ``benchmarks.front_ends`` and
``benchmarks.training``; and learning curves against the clock: ``python -m benchmarks.learning``.
"""

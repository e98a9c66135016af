"""Bridges to other systems. Each is optional, and nothing in this package imports it."""

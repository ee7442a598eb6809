"""Neve: the memory of chat products."""

__version__ = "0.1.0"

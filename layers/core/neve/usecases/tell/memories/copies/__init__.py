"""Finds where else stands what a memory says."""

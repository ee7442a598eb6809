"""Counts which of 200 pairs of statements are kept once."""

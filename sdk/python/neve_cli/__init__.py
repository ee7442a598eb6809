"""Neve on the command line."""

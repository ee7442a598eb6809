"""Writes what a model wants remembered or corrected, under the policy `write_tools` (docs/rules/tools.md)."""

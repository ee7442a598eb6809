"""Finds what a person has said of a memory, when what it was made of is taken back."""

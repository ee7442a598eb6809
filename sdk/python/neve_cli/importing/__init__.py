"""Dumps of other products as lines that a service takes, and sending them."""

"""kill -9 in the middle of a load, and what must be true afterwards."""

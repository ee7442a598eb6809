"""The rows that a session keeps beside its log and its state."""

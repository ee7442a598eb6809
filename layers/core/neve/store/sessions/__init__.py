"""What a session keeps beside its log and its state."""

"""Where else stands what a memory says."""

"""``python -m evals.bench``: how fast the service is on one machine, and how that grows with what it remembers."""

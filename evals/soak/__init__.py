"""Many clients at once on a service whose stores fail and restart, and what all stores must agree on afterwards."""

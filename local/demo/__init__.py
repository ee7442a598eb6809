"""``python -m local.demo``: a few weeks of one person's conversations, played against the running service."""

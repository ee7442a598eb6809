"""Rebuild the search index while the service is stopped, or on a search domain beside a running stage."""

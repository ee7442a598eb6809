"""One suite per port, run unchanged on each of its engines (``engines.py``)."""

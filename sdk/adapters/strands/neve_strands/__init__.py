"""``NeveMemoryStore``: the memory store of Strands on what Neve remembers of a user."""

from .store import NeveMemoryStore

__all__ = ["NeveMemoryStore"]
__version__ = "0.1.0"

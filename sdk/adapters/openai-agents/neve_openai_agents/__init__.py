"""``NeveSession``: the session of the OpenAI Agents SDK on a conversation that Neve remembers."""

from .session import NeveSession

__all__ = ["NeveSession"]
__version__ = "0.1.0"

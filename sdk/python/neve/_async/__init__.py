"""The face for asyncio; ``_sync`` is made of it by ``make sdk-generate``."""

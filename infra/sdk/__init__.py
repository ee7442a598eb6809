"""Generates what of the Python SDK derives from docs/openapi.json, and its face for threads from that for asyncio."""

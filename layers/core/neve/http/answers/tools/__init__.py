"""Answers the calls of the tools by which a model writes, and forgetting by filter."""

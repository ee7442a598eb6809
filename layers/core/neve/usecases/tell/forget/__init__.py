"""Lists what is to be forgotten, and has it done once that is confirmed (docs/rules/forget.md)."""

"""Providers' messages as events of a log: pure translation, one file a form (docs/rules/messages.md#forms)."""

"""Changes documents, and how far sessions are filed, when events are taken back."""

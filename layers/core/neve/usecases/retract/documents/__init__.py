"""What is done to documents, and to how far sessions are filed, when events are taken back."""

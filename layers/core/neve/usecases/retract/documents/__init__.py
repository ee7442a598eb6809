"""What a deletion leaves of documents that others have written on since."""

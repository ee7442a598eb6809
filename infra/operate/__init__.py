"""What an operator does with IAM credentials, and no API key can: tenants, first keys, the search index."""

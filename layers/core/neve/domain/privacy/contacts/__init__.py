"""The ways in which a person is reached or paid. The gate looks for them only where a tenant asks
(docs/rules/privacy.md#contacts)."""

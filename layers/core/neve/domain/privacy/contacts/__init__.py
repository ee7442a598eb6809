"""How somebody is reached or paid. Nobody looks for it unless a tenant asks (docs/rules/privacy.md#contacts)."""

"""What others' rules say of the templates: parliament of every role's policies, checkov of every resource. What of it
is meant so stands in ``suppressions.yaml``, each with its reason."""

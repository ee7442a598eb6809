"""Deploys a stage with one command: what it needs, its stacks, the tenant of the check, T0."""

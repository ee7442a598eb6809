"""Deterministic simulation: the real use cases on simulated ports, one seed a run (docs/simulation.md)."""

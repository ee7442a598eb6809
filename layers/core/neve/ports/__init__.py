"""Ports: the interfaces that the use cases need from the outside, and nothing more.

Every port has one contract suite under ``tests/contract`` that runs unchanged on each of its engines.
Adapters translate vendor errors into the exceptions of ``errors.py``; no other code catches a vendor error.
"""

"""Neve on one machine: the embedded engines, and a server that runs the same Lambda handlers on them."""

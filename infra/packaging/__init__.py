"""The Lambda layers: built from the locks without Docker, measured, and named by their content."""

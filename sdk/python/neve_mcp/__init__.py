"""Serves one user's memory over the Model Context Protocol: seven tools, one resource, one prompt.

It knows nothing of Neve but HTTP calls, and whoever runs it says how those are made (``calls.py``): over the network,
or within the process. So it goes with either package that is called ``neve`` and imports neither."""

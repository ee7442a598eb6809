"""The face for threads, made of ``_async`` by ``make sdk-generate``; only ``concurrency.py`` is written by hand."""

"""The embedded engines: every port on one machine, on SQLite and plain files. The only place with SQL in it."""

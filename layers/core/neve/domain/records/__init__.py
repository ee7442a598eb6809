"""The records (docs/rules/memories.md#record) as immutable values. Times are stored-form strings (``domain/times.py``),
tokens are counted at write time with the tenant's counter, and an absent optional field is ``None`` here and missing in
a row."""

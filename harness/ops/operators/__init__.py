"""One operator, one file; found by the registry (``harness.ops.base.OPERATORS``)."""

"""One operator, one file; found by the registry (``harness.framework.ops.base.OPERATORS``)."""

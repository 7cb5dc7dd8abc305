"""Primitive classes; each module lists what it offers in ``__all__`` and ``harness.framework.ops`` finds it."""

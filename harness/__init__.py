"""Reproducibility harness: describe, compile and run small networks, capture their dumps, check them."""

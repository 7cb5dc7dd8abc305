"""Compiles: traces, differentiates, orders, expands composites, chooses kernels."""

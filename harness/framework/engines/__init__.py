"""Engines: they compute the kernels of a compiled graph instead of the harness's own numpy kernels.

An engine keeps MindSpore's operators, names and slots, and computes them elsewhere: ``torch`` with PyTorch, on a CPU or
a CUDA device. Importing this package imports no engine.
"""

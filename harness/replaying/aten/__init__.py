"""Runs operators of PyTorch again. Importing a module of this package imports PyTorch."""

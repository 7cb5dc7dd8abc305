"""PyTorch's kernels, by what they have in common; found by name through ``base.KERNELS``."""

"""Compiling: trace, differentiate, order, take apart, choose kernels."""

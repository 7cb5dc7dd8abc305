"""MindSpore's ``ops`` functions and Tensor methods: what a user calls, spelled as operator calls."""

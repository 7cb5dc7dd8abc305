"""MindSpore's ``ops`` functions and Tensor methods: what a user calls, written as operator calls."""

"""Networks drawn twice, in PyTorch and in the harness's words (extra ``torch``): equal pairs, and faults in one."""

# Written by `python -m tests.stubs`.
from harness.dataset.debug import debug_hook as debug_hook
from harness.dataset.debug import pre_defined_hook as pre_defined_hook

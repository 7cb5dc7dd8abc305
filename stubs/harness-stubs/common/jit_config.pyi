# Written by `python -m tests.stubs`.
from harness.framework.nn.jit_config import JitConfig as JitConfig

# Written by `python -m tests.stubs`.
from harness.framework.ops.primitives.classic import Cholesky as Cholesky

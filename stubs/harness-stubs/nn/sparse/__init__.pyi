# Written by `python -m tests.stubs`.
from harness.nn.sparse import sparse as sparse

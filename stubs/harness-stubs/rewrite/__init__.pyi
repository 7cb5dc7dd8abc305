# Written by `python -m tests.stubs`.
from harness.rewrite import api as api

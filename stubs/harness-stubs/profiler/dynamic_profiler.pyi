# Written by `python -m tests.stubs`.
from harness.framework.train.callback.base import Callback as Callback

# Written by `python -m tests.stubs`.
from harness.framework.train.callback.base import RunContext as RunContext
from harness.framework.train.model import Model as Model

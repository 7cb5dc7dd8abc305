# Written by `python -m tests.stubs`.
from harness.framework.dataset.samplers import Shuffle as Shuffle

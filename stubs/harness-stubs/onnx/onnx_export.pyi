# Written by `python -m tests.stubs`.
from harness.framework.dataset.base import Dataset as Dataset

# Written by `python -m tests.stubs`.
from harness.dataset.utils import browse_dataset as browse_dataset
from harness.dataset.utils import line_reader as line_reader

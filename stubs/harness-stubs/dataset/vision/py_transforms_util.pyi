# Written by `python -m tests.stubs`.
from harness.framework.dataset.vision.utils import Inter as Inter

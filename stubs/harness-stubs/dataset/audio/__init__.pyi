# Written by `python -m tests.stubs`.
from harness.dataset.audio import transforms as transforms
from harness.dataset.audio import utils as utils

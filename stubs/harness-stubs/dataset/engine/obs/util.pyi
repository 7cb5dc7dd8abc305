# Written by `python -m tests.stubs`.
from harness.framework.dataset.samplers import RandomSampler as RandomSampler
from harness.framework.dataset.samplers import SequentialSampler as SequentialSampler
from harness.framework.dataset.samplers import Shuffle as Shuffle
from harness.framework.dataset.samplers import SubsetRandomSampler as SubsetRandomSampler
from harness.framework.dataset.samplers import SubsetSampler as SubsetSampler

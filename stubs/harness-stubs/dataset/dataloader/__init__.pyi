# Written by `python -m tests.stubs`.
from harness.dataset.dataloader import dataloader as dataloader
from harness.dataset.dataloader import dataset as dataset
from harness.dataset.dataloader import distributed as distributed
from harness.dataset.dataloader import sampler as sampler

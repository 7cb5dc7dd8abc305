# Written by `python -m tests.stubs`.
from harness.framework.train.checkpoint.load import load_checkpoint as load_checkpoint
from harness.framework.train.checkpoint.save import save_checkpoint as save_checkpoint

# Written by `python -m tests.stubs`.
from harness.dataset.engine.obs import config_loader as config_loader
from harness.dataset.engine.obs import obs_mindrecord_dataset as obs_mindrecord_dataset
from harness.dataset.engine.obs import util as util

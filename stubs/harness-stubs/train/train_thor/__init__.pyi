# Written by `python -m tests.stubs`.
from harness.train.train_thor import convert_utils as convert_utils
from harness.train.train_thor import dataset_helper as dataset_helper
from harness.train.train_thor import model_thor as model_thor

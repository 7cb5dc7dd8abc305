# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.dataset.schema import Schema as Schema
from harness.framework.dataset.sources import GeneratorDataset as GeneratorDataset
from harness.framework.dataset.sources import NumpySlicesDataset as NumpySlicesDataset
from harness.framework.tensor.tensor import Tensor as Tensor

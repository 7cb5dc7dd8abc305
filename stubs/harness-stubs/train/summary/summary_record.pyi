# Written by `python -m tests.stubs`.
from harness.framework.nn.cell import Cell as Cell
from harness.framework.tensor.tensor import Tensor as Tensor
from harness.framework.train.summary.summary_record import SummaryRecord as SummaryRecord

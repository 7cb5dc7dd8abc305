# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.dataset.base import Dataset as Dataset
from harness.framework.dataset.batches import BatchInfo as BatchInfo
from harness.framework.dataset.iterators import DictIterator as DictIterator
from harness.framework.dataset.iterators import TupleIterator as TupleIterator
from harness.framework.dataset.samplers import Shuffle as Shuffle
from harness.framework.dataset.schema import Schema as Schema
from harness.framework.tensor.tensor import Tensor as Tensor
def zip(datasets: Any) -> Any: ...

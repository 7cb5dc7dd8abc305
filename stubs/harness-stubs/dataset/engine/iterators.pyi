# Written by `python -m tests.stubs`.
from harness.framework.dataset.iterators import DictIterator as DictIterator
from harness.framework.dataset.iterators import TupleIterator as TupleIterator
from harness.framework.tensor.tensor import Tensor as Tensor

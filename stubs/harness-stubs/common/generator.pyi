# Written by `python -m tests.stubs`.
from harness.framework.common.helpers import VmImplRegistry as _VmImplRegistry
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
vm_impl_getters: _VmImplRegistry

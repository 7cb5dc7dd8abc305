# Written by `python -m tests.stubs`.
from harness.framework.common.helpers import VmImplRegistry as VmImplRegistry
from harness.framework.common.helpers import VmImplRegistry as _VmImplRegistry
from harness.framework.ops.primitive import Primitive as Primitive
vm_impl_registry: _VmImplRegistry

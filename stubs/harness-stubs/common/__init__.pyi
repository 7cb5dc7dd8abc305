# Written by `python -m tests.stubs`.
from typing import Any
from harness.common import api as api
from harness.common import device as device
from harness.common import dtype as dtype
from harness.common import dump as dump
from harness.common import dynamic_shape as dynamic_shape
from harness.common import file_system as file_system
from harness.common import generator as generator
from harness.common import hook_handle as hook_handle
from harness.common import initializer as initializer
from harness.common import jit_begin_end as jit_begin_end
from harness.common import jit_config as jit_config
from harness.common import jit_context as jit_context
from harness.common import jit_trace as jit_trace
from harness.common import mindir_util as mindir_util
from harness.common import np_dtype as np_dtype
from harness.common import parameter as parameter
from harness.common import seed as seed
from harness.common import sparse_tensor as sparse_tensor
from harness.common import storage as storage
from harness.common import symbol as symbol
from harness.common import tensor as tensor
from harness.dtypes import DType as _DType
from harness.framework.common.dtype import dtype_to_nptype as dtype_to_nptype
from harness.framework.common.dtype import dtype_to_pytype as dtype_to_pytype
from harness.framework.common.dtype import pytype_to_dtype as pytype_to_dtype
from harness.framework.common.tensor import from_numpy as from_numpy
from harness.framework.common.tensor import is_tensor as is_tensor
from harness.framework.common.tensor import mutable as mutable
from harness.framework.context import set_recursion_limit as set_recursion_limit
from harness.framework.dataset.schema import Text as _Text
from harness.framework.nn.jit_config import JitConfig as JitConfig
from harness.framework.nn.marks import set_dump as set_dump
from harness.framework.nn.transforms import jit as jit
from harness.framework.nn.transforms import jit_class as jit_class
from harness.framework.seed import get_seed as get_seed
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.parameter import ParameterTuple as ParameterTuple
from harness.framework.tensor.symbol import Symbol as Symbol
from harness.framework.tensor.tensor import Tensor as Tensor
bfloat16: _DType
bool: _DType
bool_: _DType
byte: _DType
cdouble: _DType
cfloat: _DType
complex128: _DType
complex64: _DType
def set_seed(seed: Any) -> Any: ...
double: _DType
float16: _DType
float32: _DType
float64: _DType
float: _DType
half: _DType
int16: _DType
int32: _DType
int64: _DType
int8: _DType
int: _DType
intc: _DType
intp: _DType
long: _DType
short: _DType
single: _DType
string: _Text
ubyte: _DType
uint16: _DType
uint32: _DType
uint64: _DType
uint8: _DType
uintc: _DType
uintp: _DType
ushort: _DType

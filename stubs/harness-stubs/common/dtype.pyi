# Written by `python -m tests.stubs`.
from harness.dtypes import DType as Type
from harness.dtypes import DType as _DType
from harness.framework.common.dtype import dtype_to_nptype as dtype_to_nptype
from harness.framework.common.dtype import dtype_to_pytype as dtype_to_pytype
from harness.framework.common.dtype import pytype_to_dtype as pytype_to_dtype
from harness.framework.dataset.schema import Text as _Text
bfloat16: _DType
bool: _DType
bool_: _DType
byte: _DType
cdouble: _DType
cfloat: _DType
complex128: _DType
complex64: _DType
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

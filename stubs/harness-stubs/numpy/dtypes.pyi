# Written by `python -m tests.stubs`.
from harness.dtypes import DType as _DType
bool_: _DType
float16: _DType
float32: _DType
float64: _DType
float_: _DType
int16: _DType
int32: _DType
int64: _DType
int8: _DType
int_: _DType
uint16: _DType
uint32: _DType
uint64: _DType
uint8: _DType
uint: _DType

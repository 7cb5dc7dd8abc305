"""MindSpore's ``common`` namespace: the places scripts import dtypes, initializers and parameters from."""

from harness._namespace import DTYPES as _DTYPES
from harness._namespace import lazy as _lazy
from harness.framework.names import fallback as _fallback

_NAMES = {
    **_DTYPES,
    **dict.fromkeys(("Symbol", "Tensor", "Parameter", "ParameterTuple"), "harness.framework.tensor"),
    **dict.fromkeys(("get_seed", "set_seed"), "harness.framework.context"),
    "jit": "harness.framework.nn.transforms",
    **dict.fromkeys(("dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype"), "harness.framework.common.dtype"),
    **{
        name: f"harness.framework.common.{name}:"
        for name in ("api", "dtype", "initializer", "parameter", "seed", "tensor")
    },
}

__getattr__, __dir__ = _lazy(__name__, _NAMES, _fallback(__name__))

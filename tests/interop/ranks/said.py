"""What a script of several ranks says, so that both sides can be compared."""

import numpy as np
from mindspore import Tensor

_BUILTIN = (TypeError, ValueError, NotImplementedError, KeyError, IndexError, AttributeError, RuntimeError)


def rounded(array):
    """Numbers with three decimals; 0 has no sign."""
    return (array.astype(np.float64).round(3) + 0.0).tolist()


def plain(value):
    """Tensors with their dtype, rounded; what holds them likewise."""
    if isinstance(value, (tuple, list)):
        return [plain(each) for each in value]
    if isinstance(value, Tensor):
        array = value.asnumpy()
        return f"{value.dtype}{rounded(array) if array.dtype.kind == 'f' else array.tolist()}"
    if isinstance(value, np.ndarray):
        return rounded(value)
    return value if value is None or isinstance(value, (bool, int, str)) else type(value).__name__


def said(name, *values):
    """Prints a line that both sides must have."""
    print("said", name, *(plain(each) for each in values), flush=True)


def tried(name, call):
    """Prints what a call gives, or which of Python's own errors it is."""
    try:
        said(name, call())
    except Exception as error:
        kind = next((each for each in _BUILTIN if isinstance(error, each)), Exception)
        print("said", name, "refused:", kind.__name__, flush=True)

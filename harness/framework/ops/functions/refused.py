"""Names of MindSpore's that its CPU has no kernel for: here, too, a call of them is refused (2.10.0, measured).

Source: every name was called in both modes with arguments that fit.
"""

from __future__ import annotations

from typing import Any

from harness.errors import KernelError, SettingError, UnsupportedError
from harness.framework.tensor import is_eager, tensor_method

#: functions of ``ops``, and what to use in place of each
_FUNCTIONS = {
    "accumulate_n": "ops.addn", "clamp_": "ops.clamp", "erfinv_": "ops.erfinv", "fills": "ops.full_like", "gamma": "",
    "inplace_sigmoid": "ops.sigmoid", "matrix_exp": "", "move_to": "", "nanquantile": "", "poisson": "",
    "quantile": "ops.sort", "rms_norm": "", "swiglu": "", "take": "Tensor.take", "tanh_": "ops.tanh",
    "type_as": "Tensor.type_as", "zero_": "ops.zeros_like",
}  # fmt: skip
_METHODS = {
    "addmm_": "addmm", "bernoulli": "", "bernoulli_": "", "bitwise_not": "invert", "clamp_": "clamp", "clone": "copy",
    "erfinv_": "erfinv", "exponential_": "", "fill_": "masked_fill", "fill_diagonal_": "fill_diagonal",
    "fills": "masked_fill", "floor_": "floor", "index_add_": "", "index_copy_": "", "index_fill_": "index_fill",
    "index_put_": "", "kthvalue": "topk", "log_": "log", "masked_fill_": "masked_fill",
    "masked_scatter_": "", "nanquantile": "", "new_full": "new_ones", "normal_": "", "put_": "", "quantile": "sort",
    "random_": "", "scatter_add_": "tensor_scatter_add", "sigmoid_": "sigmoid", "sign_": "sign", "tanh_": "tanh",
    "uniform": "", "uniform_": "", "unique": "", "zero_": "",
}  # fmt: skip

__all__ = sorted(_FUNCTIONS)


#: those whose error in PyNative mode is of another class
_EAGER = {"Tensor.kthvalue": SettingError, "Tensor.new_full": UnsupportedError}


def _refusal(name: str, instead: str) -> Any:
    def refused(*_args: Any, **_kwargs: Any) -> Any:
        kind = _EAGER.get(name, KernelError) if is_eager() else KernelError
        raise kind(f"{name} has no CPU kernel" + (f"; use {instead}" if instead else ""))

    refused.__name__ = refused.__qualname__ = name.rpartition(".")[2]
    refused.__doc__ = f"``{name}``, for which MindSpore's CPU has no kernel."
    return refused


globals().update({name: _refusal(f"ops.{name}", instead) for name, instead in _FUNCTIONS.items()})
for _name, _instead in _METHODS.items():
    tensor_method(_name)(_refusal(f"Tensor.{_name}", _instead and f"Tensor.{_instead}"))

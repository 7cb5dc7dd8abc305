"""Reproducibility harness: describe, compile and run small networks, capture their dumps, check them.

The names of MindSpore's top level (``harness.Tensor``, ``harness.set_context``, ``harness.nn``) are looked up when they
are first used, so that importing a part that needs none of them stays light.
"""

from typing import Any as _Any

from harness import hooks as _hooks
from harness import log as _log  # noqa: F401 - notes the log's environment, which counts as it is now
from harness._namespace import DTYPES as _DTYPES
from harness._namespace import lazy as _lazy

#: the release of MindSpore whose interface this is
__version__ = "2.10.0"

_NAMES = {
    **_DTYPES,
    "int": "harness.dtypes:int32",
    "float": "harness.dtypes:float32",
    "bool": "harness.dtypes:bool_",
    **dict.fromkeys(("Parameter", "ParameterTuple"), "harness.common.parameter"),
    **dict.fromkeys(("Tensor", "from_numpy", "is_tensor", "mutable"), "harness.common.tensor"),
    **dict.fromkeys(("dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype"), "harness.common.dtype"),
    **dict.fromkeys(
        (
            "GRAPH_MODE", "PYNATIVE_MODE", "get_auto_parallel_context", "get_context", "get_seed",
            "reset_auto_parallel_context", "set_auto_parallel_context", "set_context", "set_device", "set_seed",
        ),
        "harness.context",
    ),
    **dict.fromkeys(("get_level", "get_log_config"), "harness.log"),
    **dict.fromkeys(("grad", "jit", "value_and_grad"), "harness.nn.transforms"),
    "set_dump": "harness.tools",
    "dtype": "harness.common.dtype:",
    **{name: f"harness.{name}:" for name in ("common", "context", "log", "nn", "ops", "tools", "train")},
}  # fmt: skip

__getattr__, __dir__ = _lazy(__name__, _NAMES)


def _dump_from_environment(session: _Any) -> None:
    """Lets ``MINDSPORE_DUMP_CONFIG`` apply to a session, as it does to a MindSpore process."""
    from harness.context import PYNATIVE_MODE, get_context
    from harness.dump import environment

    observer = environment.install(
        device=session.device, device_id=get_context("device_id"), pynative=get_context("mode") == PYNATIVE_MODE
    )
    if observer is not None and observer not in session.observers:
        session.observers.append(observer)


_hooks.first_compile.append(_dump_from_environment)

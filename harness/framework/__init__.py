"""MindSpore's API in Python: describe networks with it, compile them, run them, and tell observers.

This part stands alone: it never imports the packages that dump, record, capture, store, compare or report. Those use a
short public surface: ``runtime.*`` (observers, sessions, launches), ``communication.launch``, ``communication.wire``,
``context``, ``seed``, ``names``, ``names.aliases``, ``engines.*``, ``ops.base``, ``ops.eager``, ``ops.primitive``,
``nn.watching``, ``nn``, ``ops``, ``tensor``, ``compile.fuse`` and ``train.callback``, ``train.recording``.
``docs/architecture.md`` says what each is for, and a test holds both.

The names of MindSpore's top level (``Tensor``, ``set_context``, ``nn``) are looked up when they are first used.
``msdump run`` lets ``mindspore`` resolve to this package.
"""

from typing import Any as _Any

from harness import hooks as _hooks
from harness._namespace import DTYPES as _DTYPES
from harness._namespace import lazy as _lazy

#: the release of MindSpore whose interface this is
__version__ = "2.10.0"

#: MindSpore's namespaces that are packages or modules here
_SPACES = (
    "_c_expression", "amp", "common", "communication", "context", "dataset", "log", "mindrecord", "nn", "ops",
    "parallel", "tools", "train",
)  # fmt: skip
_NAMES = {
    **_DTYPES,
    "int": "harness.dtypes:int32",
    "float": "harness.dtypes:float32",
    "bool": "harness.dtypes:bool_",
    **dict.fromkeys(("Parameter", "ParameterTuple"), "harness.framework.common.parameter"),
    **dict.fromkeys(("Symbol", "Tensor", "from_numpy", "is_tensor", "mutable"), "harness.framework.common.tensor"),
    **dict.fromkeys(("dtype_to_nptype", "dtype_to_pytype", "pytype_to_dtype"), "harness.framework.common.dtype"),
    **dict.fromkeys(
        (
            "COMPATIBLE", "GRAPH_MODE", "LAX", "PYNATIVE_MODE", "ParallelMode", "STRICT",
            "get_auto_parallel_context", "get_context", "get_seed",
            "reset_auto_parallel_context", "set_auto_parallel_context", "set_context", "set_device",
            "set_recursion_limit", "set_seed",
        ),
        "harness.framework.context",
    ),
    **dict.fromkeys(("get_level", "get_log_config"), "harness.framework.log"),
    **dict.fromkeys(
        ("get_grad", "grad", "jit", "jit_class", "jvp", "value_and_grad", "vjp"), "harness.framework.nn.transforms"
    ),
    **dict.fromkeys(("jacfwd", "jacrev"), "harness.framework.nn.jacobians"),
    "vmap": "harness.framework.ops",
    "JitConfig": "harness.framework.nn.jit_config",
    "constexpr": "harness.framework.ops.primitives.composition",
    **dict.fromkeys(
        ("DynamicLossScaleManager", "FixedLossScaleManager", "LossScaleManager"),
        "harness.framework.amp.loss_scale_manager",
    ),
    "FileWriter": "harness.framework.mindrecord",
    "build_train_network": "harness.framework.amp",
    "set_dump": "harness.framework.tools",
    "string": "harness.framework.dataset.schema",
    **dict.fromkeys(
        (
            "Callback", "CheckpointConfig", "LambdaCallback", "LearningRateScheduler", "LossMonitor", "Model",
            "ModelCheckpoint", "RunContext", "SummaryCollector", "SummaryRecord", "TimeMonitor",
            "load_checkpoint", "load_param_into_net", "save_checkpoint",
        ),
        "harness.framework.train",
    ),
    "dtype": "harness.framework.common.dtype:",
    **{name: f"harness.framework.{name}:" for name in _SPACES},
}  # fmt: skip


def _others(name: str) -> _Any:
    """MindSpore's other names; their table is read when one is asked for."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from harness.framework.names import lookup

    return lookup("", name)


__getattr__, __dir__ = _lazy(__name__, _NAMES, _others)


def _operators() -> _Any:
    from harness.framework import ops

    return ops


def _transforms() -> _Any:
    from harness.framework.nn import transforms

    return transforms


def _device() -> _Any:
    from harness.framework.runtime import session

    return session.current().device


_hooks.provide("device", _device)
_hooks.provide("operators", _operators)
_hooks.provide("transforms", _transforms)

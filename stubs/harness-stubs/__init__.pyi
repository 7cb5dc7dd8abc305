# Written by `python -m tests.stubs`.
from typing import Any
from harness import amp as amp
from harness import boost as boost
from harness import common as common
from harness import communication as communication
from harness import context as context
from harness import dataset as dataset
from harness import device_context as device_context
from harness import device_manager as device_manager
from harness import experimental as experimental
from harness import hal as hal
from harness import mindrecord as mindrecord
from harness import mint as mint
from harness import nn as nn
from harness import numpy as numpy
from harness import onnx as onnx
from harness import ops as ops
from harness import parallel as parallel
from harness import profiler as profiler
from harness import rewrite as rewrite
from harness import runtime as runtime
from harness import safeguard as safeguard
from harness import scipy as scipy
from harness import tools as tools
from harness import train as train
from harness import utils as utils
from harness import version as version
from harness.common import dtype as dtype
from harness.dtypes import DType as _DType
from harness.framework.amp.build import build_train_network as build_train_network
from harness.framework.amp.loss_scale_manager import DynamicLossScaleManager as DynamicLossScaleManager
from harness.framework.amp.loss_scale_manager import FixedLossScaleManager as FixedLossScaleManager
from harness.framework.amp.loss_scale_manager import LossScaleManager as LossScaleManager
from harness.framework.common.dtype import dtype_to_nptype as dtype_to_nptype
from harness.framework.common.dtype import dtype_to_pytype as dtype_to_pytype
from harness.framework.common.dtype import pytype_to_dtype as pytype_to_dtype
from harness.framework.common.execution_order import comm_exec_order_check as comm_exec_order_check
from harness.framework.common.execution_order import runtime_execution_order_check as runtime_execution_order_check
from harness.framework.common.machine import set_deterministic as set_deterministic
from harness.framework.common.tensor import from_numpy as from_numpy
from harness.framework.common.tensor import is_tensor as is_tensor
from harness.framework.common.tensor import mutable as mutable
from harness.framework.context import ParallelMode as ParallelMode
from harness.framework.context import get_auto_parallel_context as get_auto_parallel_context
from harness.framework.context import get_context as get_context
from harness.framework.context import reset_auto_parallel_context as reset_auto_parallel_context
from harness.framework.context import set_auto_parallel_context as set_auto_parallel_context
from harness.framework.context import set_context as set_context
from harness.framework.context import set_device as set_device
from harness.framework.context import set_recursion_limit as set_recursion_limit
from harness.framework.dataset.schema import Text as _Text
from harness.framework.mindrecord.writing import FileWriter as FileWriter
from harness.framework.nn.jacobians import jacfwd as jacfwd
from harness.framework.nn.jacobians import jacrev as jacrev
from harness.framework.nn.jit_config import JitConfig as JitConfig
from harness.framework.nn.marks import set_dump as set_dump
from harness.framework.nn.transforms import get_grad as get_grad
from harness.framework.nn.transforms import grad as grad
from harness.framework.nn.transforms import jit as jit
from harness.framework.nn.transforms import jit_class as jit_class
from harness.framework.nn.transforms import jvp as jvp
from harness.framework.nn.transforms import value_and_grad as value_and_grad
from harness.framework.nn.transforms import vjp as vjp
from harness.framework.ops.primitives.composition import constexpr as constexpr
from harness.framework.seed import get_seed as get_seed
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.parameter import ParameterTuple as ParameterTuple
from harness.framework.tensor.symbol import Symbol as Symbol
from harness.framework.tensor.tensor import Tensor as Tensor
from harness.framework.train.callback.base import Callback as Callback
from harness.framework.train.callback.base import RunContext as RunContext
from harness.framework.train.callback.checkpoint_config import CheckpointConfig as CheckpointConfig
from harness.framework.train.callback.lambda_callback import LambdaCallback as LambdaCallback
from harness.framework.train.callback.learning_rate import LearningRateScheduler as LearningRateScheduler
from harness.framework.train.callback.loss_monitor import LossMonitor as LossMonitor
from harness.framework.train.callback.model_checkpoint import ModelCheckpoint as ModelCheckpoint
from harness.framework.train.callback.summary_collector import SummaryCollector as SummaryCollector
from harness.framework.train.callback.time_monitor import TimeMonitor as TimeMonitor
from harness.framework.train.checkpoint.load import load_checkpoint as load_checkpoint
from harness.framework.train.checkpoint.load import load_param_into_net as load_param_into_net
from harness.framework.train.checkpoint.save import save_checkpoint as save_checkpoint
from harness.framework.train.model import Model as Model
from harness.framework.train.summary.summary_record import SummaryRecord as SummaryRecord
from harness.gate.checking import check as check
from harness.gate.checking import write as write
from harness.log.python import get_level as get_level
from harness.log.python import get_log_config as get_log_config
from harness.utils import dryrun as dryrun
COMPATIBLE: int
GRAPH_MODE: int
LAX: int
PYNATIVE_MODE: int
STRICT: int
bfloat16: _DType
bool: _DType
bool_: _DType
byte: _DType
cdouble: _DType
cfloat: _DType
class DiffersError:
    def __init__(self, *given: Any, **named: Any) -> None: ...
    def __getattr__(self, name: str) -> Any: ...
    def __call__(self, *given: Any, **named: Any) -> Any: ...
complex128: _DType
complex64: _DType
def empty_cache() -> Any: ...
def launch_blocking() -> Any: ...
def max_memory_allocated() -> Any: ...
def max_memory_reserved() -> Any: ...
def memory_allocated() -> Any: ...
def memory_reserved() -> Any: ...
def reset_max_memory_allocated() -> Any: ...
def reset_max_memory_reserved() -> Any: ...
def reset_peak_memory_stats() -> Any: ...
def set_seed(seed: Any) -> Any: ...
def synchronize() -> Any: ...
def vmap(fn: Any, in_axes: Any = ..., out_axes: Any = ...) -> Any: ...
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

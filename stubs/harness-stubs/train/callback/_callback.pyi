# Written by `python -m tests.stubs`.
from harness.framework.tensor.parameter import Parameter as Parameter
from harness.framework.tensor.tensor import Tensor as Tensor
from harness.framework.train.callback.base import Callback as Callback
from harness.framework.train.callback.base import RunContext as RunContext
from harness.framework.train.checkpoint.load import load_param_into_net as load_param_into_net

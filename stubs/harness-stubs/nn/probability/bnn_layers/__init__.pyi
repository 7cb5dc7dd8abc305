# Written by `python -m tests.stubs`.
from harness.nn.probability.bnn_layers import bnn_cell_wrapper as bnn_cell_wrapper
from harness.nn.probability.bnn_layers import conv_variational as conv_variational
from harness.nn.probability.bnn_layers import dense_variational as dense_variational
from harness.nn.probability.bnn_layers import layer_distribution as layer_distribution

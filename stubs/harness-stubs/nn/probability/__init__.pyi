# Written by `python -m tests.stubs`.
from harness.nn.probability import bijector as bijector
from harness.nn.probability import bnn_layers as bnn_layers
from harness.nn.probability import distribution as distribution

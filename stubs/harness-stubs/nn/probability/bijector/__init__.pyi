# Written by `python -m tests.stubs`.
from harness.nn.probability.bijector import bijector as bijector
from harness.nn.probability.bijector import exp as exp
from harness.nn.probability.bijector import gumbel_cdf as gumbel_cdf
from harness.nn.probability.bijector import invert as invert
from harness.nn.probability.bijector import power_transform as power_transform
from harness.nn.probability.bijector import scalar_affine as scalar_affine
from harness.nn.probability.bijector import softplus as softplus

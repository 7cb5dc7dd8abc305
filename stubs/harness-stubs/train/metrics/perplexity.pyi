# Written by `python -m tests.stubs`.
from harness.framework.train.metrics.base import Metric as Metric
from harness.framework.train.metrics.base import rearrange_inputs as rearrange_inputs
from harness.framework.train.metrics.perplexity import Perplexity as Perplexity

# Written by `python -m tests.stubs`.
from harness.framework.train.metrics.base import Metric as Metric
from harness.framework.train.metrics.base import rearrange_inputs as rearrange_inputs
from harness.framework.train.metrics.topk import Top1CategoricalAccuracy as Top1CategoricalAccuracy
from harness.framework.train.metrics.topk import Top5CategoricalAccuracy as Top5CategoricalAccuracy
from harness.framework.train.metrics.topk import TopKCategoricalAccuracy as TopKCategoricalAccuracy

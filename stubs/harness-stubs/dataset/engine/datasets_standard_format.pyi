# Written by `python -m tests.stubs`.
from harness.framework.dataset.lines import CSVDataset as CSVDataset
from harness.framework.dataset.records import MindDataset as MindDataset
from harness.framework.dataset.samplers import Shuffle as Shuffle
from harness.framework.dataset.schema import Schema as Schema
from harness.framework.dataset.sources import GeneratorDataset as GeneratorDataset
from harness.framework.dataset.tfrecord import TFRecordDataset as TFRecordDataset

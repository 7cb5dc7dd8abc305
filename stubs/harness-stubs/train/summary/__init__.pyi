# Written by `python -m tests.stubs`.
from harness.framework.train.summary.summary_record import SummaryRecord as SummaryRecord
from harness.train.summary import enums as enums
from harness.train.summary import summary_record as summary_record
from harness.train.summary import writer as writer

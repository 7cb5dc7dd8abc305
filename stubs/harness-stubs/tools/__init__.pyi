# Written by `python -m tests.stubs`.
from harness.framework.nn.marks import set_dump as set_dump
from harness.tools import data_dump as data_dump
from harness.tools import sdc_detect as sdc_detect

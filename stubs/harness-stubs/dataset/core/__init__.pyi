# Written by `python -m tests.stubs`.
from harness.dataset.core import config as config
from harness.dataset.core import datatypes as datatypes
from harness.dataset.core import py_util_helpers as py_util_helpers
from harness.dataset.core import validator_helpers as validator_helpers

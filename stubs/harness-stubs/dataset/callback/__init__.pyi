# Written by `python -m tests.stubs`.
from harness.dataset.callback import ds_callback as ds_callback
from harness.dataset.callback import validators as validators

# Written by `python -m tests.stubs`.
from harness.mindrecord.common import constant as constant
from harness.mindrecord.common import enums as enums
from harness.mindrecord.common import exceptions as exceptions

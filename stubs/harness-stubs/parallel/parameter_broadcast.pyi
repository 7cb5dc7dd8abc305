# Written by `python -m tests.stubs`.
from harness.framework.communication.group import create_group as create_group
from harness.framework.communication.management import get_group_size as get_group_size

# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_rank as get_rank

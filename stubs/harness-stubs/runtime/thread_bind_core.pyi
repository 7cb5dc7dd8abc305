# Written by `python -m tests.stubs`.
from harness.framework.communication.management import get_local_rank_size as get_local_rank_size

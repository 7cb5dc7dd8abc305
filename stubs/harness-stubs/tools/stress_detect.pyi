# Written by `python -m tests.stubs`.
from harness.framework.communication.group import create_group as create_group
from harness.framework.communication.management import get_local_rank_size as get_local_rank_size
from harness.framework.communication.management import get_rank as get_rank
from harness.framework.communication.management import init as init

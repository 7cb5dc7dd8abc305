# Written by `python -m tests.stubs`.
from harness.framework.communication.group import create_group as create_group
from harness.framework.communication.group import destroy_group as destroy_group
from harness.framework.communication.management import GlobalComm as GlobalComm
from harness.framework.communication.management import get_group_rank_from_world_rank as get_group_rank_from_world_rank
from harness.framework.communication.management import get_group_size as get_group_size
from harness.framework.communication.management import get_local_rank as get_local_rank
from harness.framework.communication.management import get_local_rank_size as get_local_rank_size
from harness.framework.communication.management import get_process_group_ranks as get_process_group_ranks
from harness.framework.communication.management import get_rank as get_rank
from harness.framework.communication.management import get_world_rank_from_group_rank as get_world_rank_from_group_rank
from harness.framework.communication.management import init as init
from harness.framework.communication.management import release as release
HCCL_WORLD_COMM_GROUP: str
MCCL_WORLD_COMM_GROUP: str
NCCL_WORLD_COMM_GROUP: str

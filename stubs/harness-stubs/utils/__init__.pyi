# Written by `python -m tests.stubs`.
from harness.framework.common.execution_order import comm_exec_order_check as comm_exec_order_check
from harness.framework.common.execution_order import runtime_execution_order_check as runtime_execution_order_check
from harness.utils import dlpack as dlpack
from harness.utils import dryrun as dryrun
from harness.utils import ms_dispatch as ms_dispatch
from harness.utils import sdc_detect as sdc_detect
from harness.utils import utils as utils

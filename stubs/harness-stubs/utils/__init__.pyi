# Written by `python -m tests.stubs`.
from harness.utils import dlpack as dlpack
from harness.utils import dryrun as dryrun
from harness.utils import ms_dispatch as ms_dispatch
from harness.utils import sdc_detect as sdc_detect
from harness.utils import utils as utils

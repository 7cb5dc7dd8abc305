# Written by `python -m tests.stubs`.
from harness.framework.communication.group import create_group as create_group
from harness.framework.nn.cell import Cell as Cell
from harness.framework.ops.primitives.collective import Receive as Receive
from harness.framework.ops.primitives.collective import Send as Send

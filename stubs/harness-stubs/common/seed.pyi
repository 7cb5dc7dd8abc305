# Written by `python -m tests.stubs`.
from typing import Any
from harness.framework.seed import get_seed as get_seed
def set_seed(seed: Any) -> Any: ...

"""``mindspore.common.seed``."""

from harness.framework.seed import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]

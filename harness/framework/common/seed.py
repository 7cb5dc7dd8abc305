"""``mindspore.common.seed``."""

from harness.framework.context import get_seed, set_seed

__all__ = ["get_seed", "set_seed"]

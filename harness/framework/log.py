"""MindSpore's module ``log``; what it holds is in ``harness.log``, which the whole project logs with."""

import logging  # noqa: F401 - MindSpore's module has it, and scripts import it from there

from harness.log import ROOT, critical, debug, error, get, get_level, get_log_config, info, warning

__all__ = ["ROOT", "critical", "debug", "error", "get", "get_level", "get_log_config", "info", "warning"]

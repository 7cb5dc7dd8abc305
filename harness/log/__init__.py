"""The log, as MindSpore has it: its levels, line forms, ``GLOG_*`` and ``logger_*`` variables, files and rotation.

There are two kinds of lines. A line that a script logs by ``debug`` ... ``critical`` (``from mindspore import log``)
has the form of MindSpore's Python side, module ``ME``. A line that the harness logs itself (``get``) has the form of
its C++ side, under the name of the sub-module that does the same there (``submodules.SUBMODULES``), so that
``MS_SUBMODULE_LOG_v`` applies. The environment counts as it was when ``harness`` was imported.
"""

import logging  # noqa: F401 - MindSpore's module has it, and scripts import it from there

from harness.log.loggers import ROOT, get
from harness.log.python import critical, debug, error, get_level, get_log_config, info, warning

__all__ = ["ROOT", "critical", "debug", "error", "get", "get_level", "get_log_config", "info", "warning"]

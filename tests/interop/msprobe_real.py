"""Runs a script under msprobe and the real MindSpore on a CPU: ``msprobe-python msprobe_real.py SCRIPT ARGUMENTS``.

msprobe computes its statistics by operators that a CPU lacks; here numpy computes them.
"""

from __future__ import annotations

import runpy
import sys
from typing import Any

import numpy as np


def statistics(self: Any, data: Any) -> Any:
    """What msprobe computes of a tensor."""
    from msprobe.core.dump.data_dump.data_processor import mindspore_processor  # type: ignore[import-not-found]

    self.api_register.restore_inner_used_api()
    found = mindspore_processor.TensorStatInfo()
    values = data.asnumpy()
    if values.size and values.dtype == bool:
        found.max, found.min = values.max().item(), values.min().item()
    elif values.size:
        plain = (np.abs(values) if values.dtype.kind == "c" else values).astype(np.float64)
        found.max, found.min, found.mean = plain.max().item(), plain.min().item(), plain.mean().item()
        found.norm = float(np.sqrt((plain * plain).sum()))
    self.api_register.register_inner_used_api()
    return found


if __name__ == "__main__":
    from msprobe.core.dump.data_dump.data_processor import mindspore_processor

    mindspore_processor.MindsporeDataProcessor.get_stat_info = statistics
    sys.argv = sys.argv[1:]
    runpy.run_path(sys.argv[0], run_name="__main__")

"""What every run of msprobe's command imports, MindSpore for the most part: a process that did forks for each run."""

from __future__ import annotations

from importlib import import_module

for module in ("msprobe.msprobe", "msprobe.mindspore.compare.ms_compare"):
    import_module(module)

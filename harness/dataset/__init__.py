"""Datasets, as the part of ``mindspore.dataset`` a small training needs."""

import difflib as _difflib
from typing import Any as _Any

from harness.dataset import config
from harness.dataset.base import Dataset
from harness.dataset.sources import GeneratorDataset, NumpySlicesDataset
from harness.errors import UnsupportedNameError as _UnsupportedNameError

__all__ = ["Dataset", "GeneratorDataset", "NumpySlicesDataset", "config"]


def __getattr__(name: str) -> _Any:
    near = _difflib.get_close_matches(name, __all__, n=3, cutoff=0.6)
    hint = f"; did you mean {', '.join(near)}?" if near else ""
    raise _UnsupportedNameError(f"dataset.{name} is not supported, or is no name of MindSpore{hint}")

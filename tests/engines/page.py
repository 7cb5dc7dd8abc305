"""The programs of ``docs/how-to/onnx-and-jax.md``, written to a directory and imported."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import blocks
from tests.subprocesses import ROOT

PAGE = ROOT / "docs" / "how-to" / "onnx-and-jax.md"
ENGINES = ("onnx", "onnxruntime", "jax")
_HOLDERS = {"onnx": "onnx_reference", "onnxruntime": "onnx_runtime", "jax": "jax_steps"}


def needed() -> None:
    """Skips, or fails under ``tox -e engines``, where an engine is not installed."""
    missing = [name for name in ENGINES if importlib.util.find_spec(name) is None]
    if missing and os.environ.get("MSDUMP_ENGINES_REQUIRED"):
        pytest.fail(f"{', '.join(missing)}: not installed")
    if missing:
        pytest.skip(f"needs {', '.join(missing)} (tox -e engines)", allow_module_level=True)


@cache
def programs() -> Path:
    """A directory with the page's programs."""
    folder = Path(tempfile.mkdtemp(prefix="engines"))
    for block in blocks(PAGE):
        if block.title and block.title.endswith(".py"):
            (folder / block.title).write_text(block.content, encoding="utf-8")
    return folder


@cache
def module(name: str) -> Any:
    """A program of the page as a module."""
    folder = str(programs())
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module(name)


def recorded(engine: str) -> Any:
    """The page's class ``Recorded`` of an engine."""
    return module(_HOLDERS[engine]).Recorded

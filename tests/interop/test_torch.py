"""Captures of PyTorch have PyTorch's own values: the tests of ``tests/capture/torch``, where PyTorch is."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.subprocesses import ROOT

pytestmark = pytest.mark.interop


def test_captures_beside_pytorch(torch_python: str) -> None:
    command = [torch_python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-rs", "tests/capture/torch"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr
    assert re.search(r"^\d+ passed in ", done.stdout, re.MULTILINE), done.stdout

"""PyTorch is loaded only on request; its absence is a clear error."""

from __future__ import annotations

import subprocess
import sys

from tests.subprocesses import ROOT


def ran(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)


def test_the_harness_does_not_load_pytorch() -> None:
    done = ran("import sys, harness.framework, harness.capture, harness.backends, harness.store, harness.compare\n"
               "harness.framework.nn, harness.framework.ops; print('torch' in sys.modules)")  # fmt: skip
    assert done.stdout == "False\n", done.stderr


def test_without_pytorch_the_error_says_how_to_get_it() -> None:
    done = ran("import sys; sys.modules['torch'] = None; import harness.capture.torch")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        "ImportError: harness.capture.torch needs PyTorch, which is not installed; "
        "get it with: pip install 'pytest-msdump[torch]'"
    )

"""Finds the Python that has MindSpore, and its version, without importing it, which takes seconds."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import dataclass
from functools import cache

from harness.suggest import install

OLDEST = (2, 7)
RECORDER_UNTIL = (2, 7, 0)
"""The last release with the Running Data Recorder."""
VARIABLE = "MSDUMP_MINDSPORE"
HOW = f"{install('mindspore>=2.7')}, or name a Python that has it: --msdump-mindspore=PYTHON, or {VARIABLE}=PYTHON"
_PROBE = """
import importlib.util, json, os, re
spec = importlib.util.find_spec("mindspore")
folder = (list(spec.submodule_search_locations or [""]) if spec else [""])[0]
file = os.path.join(folder, "version.py")
text = open(file, encoding="utf-8").read() if folder and os.path.exists(file) else ""
found = re.search(r"__version__ = ['\\"]([^'\\"]+)", text)
plugins = os.path.join(folder, "lib", "plugin")
files = os.listdir(plugins) if folder and os.path.isdir(plugins) else []
print(json.dumps({"folder": folder, "version": found[1] if found else "", "plugins": files}))
"""
_SECONDS = 60


@dataclass(frozen=True)
class Installed:
    """An installed MindSpore.

    Attributes:
        python: interpreter that has it.
        version: of MindSpore, such as ``2.10.0``.
        device: its device, a name of ``devices.DEVICES`` for which there are drivers and a plugin.
    """

    python: str
    version: str
    device: str

    @property
    def release(self) -> tuple[int, ...]:
        """``(2, 10, 0)``; anything else ends it."""
        return _release(self.version)

    @property
    def records(self) -> bool:
        """Whether it has the Running Data Recorder."""
        return self.release[:3] <= RECORDER_UNTIL


def _release(version: str) -> tuple[int, ...]:
    numbers = []
    for part in version.split("."):
        if not part.isdigit():
            break
        numbers.append(int(part))
    return tuple(numbers)


def find(given: str | None = None) -> Installed | str:
    """Finds the MindSpore for tests; returns one line saying why if there is none.

    Args:
        given: interpreter to examine; None for the one in ``MSDUMP_MINDSPORE``, or else this one.
    """
    named = given or os.environ.get(VARIABLE) or ""
    python = shutil.which(os.path.expanduser(named)) if named else sys.executable
    if python is None:
        where = "--msdump-mindspore" if given else VARIABLE
        return f"{where}={named!r} is not a program; {HOW}"
    return _probed(os.path.abspath(python))


@cache
def _probed(python: str) -> Installed | str:
    import subprocess  # most sessions ask nobody

    try:
        done = subprocess.run(
            [python, "-c", _PROBE], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=_SECONDS, cwd=os.path.dirname(python),
        )  # fmt: skip
        found = json.loads(done.stdout) if done.returncode == 0 else None
    except (OSError, ValueError, subprocess.SubprocessError) as error:
        return f"{python} cannot be asked for MindSpore ({str(error).splitlines()[0]}); {HOW}"
    if not isinstance(found, dict):
        last = (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]
        return f"{python} is not a Python that can be asked for MindSpore ({last}); {HOW}"
    if not found["folder"]:
        return f"{python} has no MindSpore; {HOW}"
    version = found["version"]
    if _release(version) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        return f"{python} has MindSpore {version or 'of an unknown release'}; {oldest} is the oldest that is run; {HOW}"
    return Installed(python, version, _device(found["plugins"]))


def _device(plugins: list[str]) -> str:
    """The device name; on Ascend kernel by kernel, as the worker sets it."""
    nodes = os.listdir("/dev") if os.path.isdir("/dev") else []
    if any("ascend" in name for name in plugins) and any(name.startswith("davinci") for name in nodes):
        return "ascend-o0"
    if any("gpu" in name for name in plugins) and "nvidia0" in nodes:
        return "gpu"
    return "cpu"

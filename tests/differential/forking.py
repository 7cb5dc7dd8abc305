"""A process that has imported MindSpore (or this project under its name) and runs each script in a fork of itself.

``python forking.py`` under the real MindSpore, ``python forking.py own ROOT`` under this project, ``python forking.py
tool SCRIPT`` where the script imports what another tool needs; by path, since the others need not have this project.
One JSON object a line on its standard input, ``{"script": PATH, "arguments": [...], "out": DIRECTORY, "limit":
SECONDS}``, and one answered for each, ``{"code": EXIT CODE}``; the script's streams go to ``stdout`` and ``stderr`` in
the directory, its dump to ``tree``. With ``"environment": {...}`` these variables are set, and only they can ask for a
dump.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import json
import os
import runpy
import signal
import sys
import traceback
from typing import Any, TextIO

MODULES = ("numpy", "mindspore", "mindspore.nn", "mindspore.ops", "mindspore.train", "mindspore.common.initializer")
#: what the real one imports when it first compiles: a quarter of a program's time
LATE = (
    "asttokens.astroid_compat", "asttokens.mark_tokens", "mindspore.graph._parse.compile_config",
    "mindspore.graph._parse.deprecated.deprecated_tensor_method", "mindspore.graph._utils.jit_fallback_utils",
    "mindspore.ops._grad_experimental", "mindspore.ops.tensor_method",
)  # fmt: skip


def preload(own: str | None) -> None:
    """Imports what scripts of MindSpore import; ``own`` is where this project lies, None under the real one."""
    if own is not None:
        sys.path.insert(0, own)
        importlib.import_module("harness.cli.importing").install()
    for module in MODULES:
        importlib.import_module(module)
    if own is not None:
        importlib.import_module("harness.backends").stand_in("cpu")
        importlib.import_module("harness.dump")
        importlib.import_module("harness.framework.ops.base").OPERATORS.get("Add")
        sys.path.remove(own)  # a script finds what it would without
    else:
        for module in LATE:
            importlib.import_module(module)


def write_configuration(out: str) -> str:
    """Writes a dump configuration for ``out``; gives its path."""
    common = {
        "op_debug_mode": 0, "dump_mode": 0, "path": os.path.join(out, "tree"), "net_name": "Net", "iteration": "all",
        "saved_data": "tensor", "input_output": 0, "kernels": [], "support_device": [0],
    }  # fmt: skip
    path = os.path.join(out, "data_dump.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump({"common_dump_settings": common, "e2e_dump_settings": {"enable": True}}, file)
    return path


def carry_out(request: dict[str, Any]) -> int:
    """Runs a request's script in this process, a fork; gives its exit code."""
    out = request["out"]
    environment = request.get("environment")
    os.environ.update({"MINDSPORE_DUMP_CONFIG": write_configuration(out)} if environment is None else environment)
    os.chdir(out)
    for stream, name in ((1, "stdout"), (2, "stderr")):
        file = os.open(os.path.join(out, name), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(file, stream)
        os.close(file)
    signal.alarm(int(request.get("limit", 600)))
    arguments = request.get("arguments", [])
    sys.argv = [request["script"], *arguments]
    # As Python does for a script; the first was this one's.
    sys.path[:1] = [os.path.dirname(request["script"]), *filter(None, os.environ.get("PYTHONPATH", "").split(":"))]
    try:
        if "harness.cli.importing" in sys.modules:  # as ``msdump run``, whose tracebacks begin in the script
            return int(importlib.import_module("harness.cli.script").run(request["script"], arguments))
        runpy.run_path(request["script"], run_name="__main__")
        return 0
    except SystemExit as left:
        return left.code if isinstance(left.code, int) else 0 if left.code is None else 1
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        with contextlib.suppress(OSError, ValueError):
            sys.stdout.flush()
            sys.stderr.flush()


def serve(answers: TextIO) -> None:
    """Answers requests until there are no more."""
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            os._exit(carry_out(json.loads(line)))
        _, status = os.waitpid(child, 0)
        answers.write(json.dumps({"code": os.waitstatus_to_exitcode(status)}) + "\n")
        answers.flush()


if __name__ == "__main__":
    told = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what an import prints is no answer
    kind, place = sys.argv[1:] or ("real", None)
    if kind == "tool":
        runpy.run_path(place, run_name="preload")
    else:
        preload(place)
    gc.freeze()  # a collection in a fork would copy every page
    serve(told)

"""A stand-in for the MindSpore package, small enough for a test; it "dumps" a real tree."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

from tests.real_trees import DATA

INIT = """
import os
from mindspore import nn, ops
from mindspore.version import __version__

GRAPH_MODE = 0
SET = {{}}
IMPORTED_BY = os.getpid()


def Tensor(value):
    return value


def set_context(**given):
    SET.update(given)


def set_seed(seed):
    SET["seed"] = seed


def where(name):
    return os.environ.get(name)
"""
NN = """
import json, os, tarfile


class Cell:
    def __call__(self, *inputs):
        dump()
        return self.construct(*inputs)


def dump():
    name = os.environ.get("MINDSPORE_DUMP_CONFIG")
    if name is None:
        return
    with open(name) as file:
        path = json.load(file)["common_dump_settings"]["path"]
    if not os.path.exists(path):
        os.makedirs(path)
        with tarfile.open({tree!r}) as archive:
            archive.extractall(path, **({{"filter": "tar"}} if hasattr(tarfile, "tar_filter") else {{}}))
        says = os.path.join(path, "rank_0", ".dump_metadata", "config.json")
        with open(says) as file:
            said = json.load(file)
        os.chmod(says, 0o600)
        with open(says, "w") as file:
            json.dump({{**said, "ms_version": {version!r}}}, file)
        os.chmod(says, 0o400)
    if os.environ.get("MS_RDR_MODE") == "2":
        folder = os.path.join(os.environ["MS_RDR_PATH"], "rank_0", "rdr")
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "SESSION.graph_exec_order.0.20261120101112.txt"), "w") as file:
            file.write("the order")
"""


def make(folder: Path, version: str = "2.10.0", tree: str = "two_nets", broken: str = "") -> Path:
    """An interpreter below ``folder`` that has such a package.

    Args:
        version: what it says of itself.
        tree: of ``tests/data/real``; what each program dumps.
        broken: what its import runs first.

    Returns:
        A program that runs this Python with the package to be found.
    """
    package = folder / "mindspore"
    package.mkdir(parents=True)
    (package / "version.py").write_text(f"__version__ = {version!r}\n")
    (package / "__init__.py").write_text(broken + INIT.format())
    (package / "nn.py").write_text(NN.format(tree=str(DATA / f"{tree}.tar.gz"), version=version))
    (package / "ops.py").write_text("")
    program = folder / "python"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{folder}" exec "{sys.executable}" "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program

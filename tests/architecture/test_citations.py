"""Every file of this repository that a comment, a docstring or a page cites exists."""

from __future__ import annotations

import ast
import fnmatch
import io
import re
import subprocess
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path, PurePosixPath

from tests.architecture.source import ROOT

#: names that stand for any file, and files of a reader's own that texts tell of
MADE_UP = frozenset(
    {
        "docs/PAGE", "tests/audio", "tests/gate/test_nets", "tests/gate/test_nets.py", "tests/part_1",
        "tests/test_a.py", "tests/test_net.py", "tests/text", "tests/vision",
    }
)  # fmt: skip
#: groups of entry points, which other packages fill
_KINDS = (
    "backends", "commands", "devices", "formats", "inspect", "logs", "measures", "operators", "recorders", "replayers",
    "reports", "tolerances",
)  # fmt: skip
_GROUPS = frozenset(f"harness.{kind}" for kind in _KINDS)
#: goldens in texts are a reader's; a page of the reference is one of this repository
_FOLDERS = ("benchmarks", "ci", "docs", "examples", "harness", "pytest_msdump", "tests")
_PATH = re.compile(rf"(?<![\w/.:~$}}<-])(?:{'|'.join(_FOLDERS)})/[\w./*{{}},-]*")
_FILE = re.compile(r"`([\w./-]*\w\.py)`")
_MODULE = re.compile(r"(?<![\w.])(?:benchmarks|harness|pytest_msdump|tests)(?:\.\w+)+")
_CHOICE = re.compile(r"\{(\w+(?:,\w+)+)\}")


@cache
def tracked() -> frozenset[str]:
    """Files of the repository, and the folders they are in."""
    listed = subprocess.run(
        ["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    return frozenset(listed) | {str(folder) for path in listed for folder in PurePosixPath(path).parents}


@cache
def endings() -> frozenset[str]:
    """Every path of the repository, and what is left of it without its first folders."""
    return frozenset(
        "/".join(PurePosixPath(path).parts[at:]) for path in tracked() for at in range(path.count("/") + 1)
    )


@cache
def modules() -> frozenset[str]:
    """Modules and the packages they are in, by their dotted names."""
    files = (PurePosixPath(path) for path in tracked() if path.endswith(".py"))
    return frozenset(".".join(each.with_suffix("").parts) for path in files for each in (path, *path.parents[:-1]))


def texts(path: str, content: str) -> Iterator[str]:
    """The comments and docstrings of a module; a page's paragraphs, without its blocks of code."""
    if path.endswith(".md"):
        yield re.sub(r"^( *)```.*?^\1```", "", content, flags=re.MULTILINE | re.DOTALL)
        return
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield token.string
    for node in ast.walk(ast.parse(content)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            yield ast.get_docstring(node) or ""


def _chosen(path: str) -> list[str]:
    """``a/{b,c}.json`` is two paths."""
    found = _CHOICE.search(path)
    return [path.replace(found[0], each, 1) for each in found[1].split(",")] if found else [path]


@cache
def _is_there(path: str) -> bool:
    pattern = re.sub(r"\{\w+\}", "*", path)  # a name that code fills in
    return bool(fnmatch.filter(tracked(), pattern)) if "*" in pattern else path in tracked()


def missing(text: str) -> list[str]:
    """What ``text`` cites and the repository has not: paths from its root, names of Python files, modules."""
    paths = [each.rstrip("./-,") for found in _PATH.findall(text) for each in _chosen(found)]
    lost = [path for path in paths if path not in MADE_UP and not _is_there(path)]
    names = [name for name in _FILE.findall(text) if not name.rpartition("/")[2].split(".")[0].isupper()]
    lost += [name for name in names if name not in endings() and name not in MADE_UP]
    for name in _MODULE.findall(text):
        package, _, last = name.rpartition(".")
        ours = name.replace("harness.", "harness.framework.", 1)  # MindSpore's modules have both names
        if not {name, ours} & (modules() | _GROUPS) and not _defines(package, last):
            lost.append(name)
    return lost


@cache
def _defines(module: str, name: str) -> bool:
    """Whether ``name`` is a word of the module: what it defines, imports, or keeps in a table of names by text."""
    for path in (f"{module.replace('.', '/')}.py", f"{module.replace('.', '/')}/__init__.py"):
        if path in tracked():
            return re.search(rf"\b{name}\b", (ROOT / path).read_text(encoding="utf-8")) is not None
    return "." in module and _defines(*module.rsplit(".", 1))


def test_what_is_cited_is_there() -> None:
    lost = []
    for path in sorted(tracked()):
        if path.endswith((".py", ".md")) and path != Path(__file__).relative_to(ROOT).as_posix():
            content = (ROOT / path).read_text(encoding="utf-8")
            if missing(content):  # most have nothing of the kind even in their code
                lost += [f"{path}: {each}" for text in texts(path, content) for each in missing(text)]
    assert not lost


def test_what_is_not_there_is_found() -> None:
    paths = "see ``tests/data/gone.json`` and `docs/dump.md`, tests/data/ops/{values,gone}.json, tests/data/gone/*.json"
    assert missing(paths) == ["tests/data/gone.json", "tests/data/ops/gone.json", "tests/data/gone/*.json"]
    assert missing("``gone.py``, ``store/read.py``, ``NAME.py``") == ["gone.py"]
    assert missing("harness.gone, python -m tests.fuzz, harness.dtypes.float16") == ["harness.gone"]
    assert not missing("tests/data/ops/*.json, harness/{store,dump}")

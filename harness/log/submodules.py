"""Sub-modules of MindSpore's log, the harness's packages that stand for them, and ``MS_SUBMODULE_LOG_v``."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

#: Names of 2.7.0's log, in the order of their numbers (measured; later releases have these too).
NAMES = (
    "UNKNOWN", "CORE", "ANALYZER", "COMMON", "DEBUG", "OFFLINE_DEBUG", "DEVICE", "GE_ADPT", "IR", "KERNEL", "MD", "ME",
    "EXPRESS", "OPTIMIZER", "PARALLEL", "PARSER", "PIPELINE", "PRE_ACT", "PYNATIVE", "SESSION", "UTILS", "VM",
    "PROFILER", "PS", "PI", "FL", "DISTRIBUTED", "LITE", "ARMOUR", "HCCL_ADPT", "RUNTIME_FRAMEWORK", "GE", "API",
    "SYMBOLIC_SHAPE", "GRAPH_KERNEL", "LLM_BOOST", "TRACE", "INTERNAL_KERNEL", "EXTENSION",
)  # fmt: skip

#: Package of ``harness`` -> sub-module that does the same in MindSpore; every other package is ``ME``.
SUBMODULES: Mapping[str, str] = {
    "backends": "SESSION",
    "compile": "PIPELINE",
    "devices": "DEVICE",
    "dtypes": "CORE",
    "dump": "DEBUG",
    "graph": "IR",
    "log": "CORE",
    "ops": "KERNEL",
    "rdr": "DEBUG",
    "registry": "CORE",
    "runtime": "RUNTIME_FRAMEWORK",
    "stats": "DEBUG",
    "tensor": "CORE",
}
OTHER = "ME"


def submodule_of(logger: str) -> str:
    """The sub-module of the logger ``harness.dump.config``."""
    return SUBMODULES.get([*logger.split("."), ""][1], OTHER)


@dataclass(frozen=True, slots=True)
class SubmoduleLevels:
    """The levels in ``MS_SUBMODULE_LOG_v``.

    Attributes:
        levels: 0 to 4 by sub-module; they stand instead of ``GLOG_v``.
        problems: entries that were left out, and why; to be logged as warnings.
    """

    levels: Mapping[str, int] = field(default_factory=dict)
    problems: tuple[str, ...] = ()


class _SyntaxError(Exception):
    pass


_TOKEN = re.compile(r"\s*(?:(?P<name>[A-Za-z_]\w*)|(?P<number>\d+)|(?P<sign>[{}:,])|(?P<end>$)|(?P<bad>.))", re.ASCII)


def parse_levels(text: str) -> SubmoduleLevels:
    """``{PARSER:1,ANALYZER:0}``, with blanks anywhere between; what follows the closing brace does not count.

    Measured on 2.10.0: an unknown name or level is left out with a warning, a fault of syntax drops the whole.
    """
    try:
        entries = list(_entries(text))
    except _SyntaxError as error:
        return SubmoduleLevels(problems=(f"MS_SUBMODULE_LOG_v={text!r} is ignored as a whole: {error}",))
    levels, problems = {}, []
    for name, level in entries:
        if name not in NAMES:
            problems.append(f"MS_SUBMODULE_LOG_v: there is no sub-module {name!r}; the entry is ignored")
        elif level not in ("0", "1", "2", "3", "4"):
            problems.append(f"MS_SUBMODULE_LOG_v: level {level} of {name} is not one of 0 to 4; the entry is ignored")
        else:
            levels[name] = int(level)
    return SubmoduleLevels(levels, tuple(problems))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    at = 0

    def take(wanted: str, shown: str) -> str:
        nonlocal at
        found = _TOKEN.match(text, at)
        assert found is not None
        kind = found.lastgroup or ""
        value = found[kind]
        if value != wanted and kind != wanted:
            raise _SyntaxError(f"{shown} is expected at character {found.start(kind)}, not {value or 'the end'!r}")
        at = found.end()
        return value

    take("{", "'{'")
    while True:
        name = take("name", "the name of a sub-module")
        take(":", "':'")
        yield name, take("number", "a level")
        following = _TOKEN.match(text, at)
        if following is None or following["sign"] != ",":
            break
        at = following.end()
    take("}", "'}' or ','")

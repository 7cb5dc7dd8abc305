"""The dump configuration: ``data_dump.json`` read, checked and frozen.

``parse`` raises ``DumpConfigError`` (a ``RuntimeError``, as in MindSpore) for each refusal, with the stable ``kind``
of the reference's case file; warnings go to the log ``harness.dump.config``.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import log
from harness.dump import json_text
from harness.dump.draft import COMMON, E2E, Draft, Section
from harness.dump.iteration import IterationSet
from harness.dump.rules import NEWEST, rules_for
from harness.dump.selection import KernelRule
from harness.errors import DumpConfigError

MAX_BYTES = 16 * 2**20
"""Largest file read; MindSpore has no limit, but a device file in its place would never end."""

_log = log.get("dump.config")


@dataclass(frozen=True, slots=True)
class DumpConfig:
    """A configuration after all checks and forced changes.

    Attributes:
        generation, backend: the rules it was read under.
        dump_mode: 0 everything, 1 what ``kernels`` selects, 2 what set_dump marked.
        path: absolute directory the tree is made in.
        net_name: name of the network's directory.
        iteration: step labels that are dumped.
        input_output: 0 both, 1 inputs only, 2 outputs (and parameters) only.
        kernels: rules of dump_mode 1; none selects everything.
        support_device: device ids, each of 32 bits.
        op_debug_mode: 0 off, 3 overflow, 4 exception.
        overflow_number: operators to keep in mode 3; 0 is no limit.
        saved_data: ``tensor``, ``statistic`` or ``full``.
        initial_iteration: label of the process's first step, 32 bits.
        synchronous: ``enable`` of the e2e section.
        trans_flag, save_kernel_args, stat_calc_mode, device_stat_precision_mode, sample_mode, sample_num: as named.
        raw: the file's bytes, or the text's.
    """

    generation: str
    backend: str
    dump_mode: int
    path: str
    net_name: str
    iteration: IterationSet
    input_output: int
    kernels: tuple[KernelRule, ...]
    support_device: tuple[int, ...]
    op_debug_mode: int
    overflow_number: int
    saved_data: str
    initial_iteration: int
    synchronous: bool
    trans_flag: bool
    save_kernel_args: bool
    stat_calc_mode: str
    device_stat_precision_mode: str
    sample_mode: int
    sample_num: int
    raw: bytes

    @property
    def wants_inputs(self) -> bool:
        """Operator inputs are dumped."""
        return self.input_output in (0, 1)

    @property
    def wants_outputs(self) -> bool:
        """Operator outputs and parameters are dumped."""
        return self.input_output in (0, 2)


def parse(
    source: str | bytes | os.PathLike[str],
    backend: str = "cpu",
    generation: str = NEWEST,
    environ: Mapping[str, str] = os.environ,
) -> DumpConfig:
    """Reads and checks a configuration.

    Args:
        source: JSON text (str or bytes), or the path of a file (any ``os.PathLike``).
        backend: whose rules count (``cpu``).
        generation: which releases' rules count.
        environ: where ``MS_DIAGNOSTIC_DATA_PATH`` is looked up.

    Raises:
        DumpConfigError: the original refuses it, too.
        UnsupportedError: no rules for that backend and generation.
    """
    rules = rules_for(backend, generation)
    if isinstance(source, (str, bytes)):
        raw, where = (source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")), "text"
    else:
        where = os.fspath(source)
        raw = read_file(where)
    top = _read_json(raw, where)
    fields: Mapping[str, Any] = top if isinstance(top, dict) else {}
    draft = Draft(Section(COMMON, {}, where), _section(fields, E2E, where), rules, environ)
    if draft.e2e is None and rules.e2e_forced:
        _log.warning(
            "dump configuration: %s has no %s, which says that nothing is dumped; on %s everything is all the same",
            where, E2E, rules.backend,
        )  # fmt: skip
    for check in rules.section_checks:
        check(draft)
    common = _section(fields, COMMON, where)
    if common is None:
        raise DumpConfigError(f"missing:{COMMON}", f"dump configuration: {where} has no {COMMON}, which is required")
    draft.common = common
    for check in rules.common_checks + rules.closing_checks:
        check(draft)
    return _frozen(draft, raw)


def _section(fields: Mapping[str, Any], name: str, where: str) -> Section | None:
    if name not in fields:
        return None
    value = fields[name]
    return Section(name, value if isinstance(value, dict) else {}, where)


def _read_json(raw: bytes, where: str) -> Any:
    try:
        return json_text.loads(raw)
    except json_text.JsonError as error:
        _log.error("dump configuration: %s cannot be read from here on: %s", where, error.rest)
        kind = "json-range" if error.overflow else "json-syntax"
        raise DumpConfigError(kind, f"dump configuration: {where} is no JSON: {error}") from None


def _frozen(draft: Draft, raw: bytes) -> DumpConfig:
    taken = {
        name: getattr(draft, name)
        for name in DumpConfig.__dataclass_fields__
        if name not in ("generation", "backend", "raw")
    }
    return DumpConfig(generation=draft.rules.generation, backend=draft.rules.backend, raw=raw, **taken)


def resolve(value: str) -> Path:
    """The file that ``MINDSPORE_DUMP_CONFIG`` names, judged by its resolved path as the original does.

    Raises:
        DumpConfigError: it is missing, its path has no dot, or does not end in ``.json`` (lower case).
    """
    real = os.path.realpath(value)
    if not os.path.exists(real):
        raise DumpConfigError("file-missing", f"dump configuration: file {value!r} ({real}) does not exist")
    _, dot, suffix = real.rpartition(".")
    if not dot:
        raise DumpConfigError("file-nodot", f"dump configuration: {real!r} is no name of a .json file")
    if suffix != "json":
        raise DumpConfigError("file-suffix", f"dump configuration: {real!r} ends in .{suffix}; accepted: .json")
    return Path(real)


def read_file(path: str) -> bytes:
    """Bytes of a regular file of at most ``MAX_BYTES``; ``DumpConfigError`` of kind ``file-open`` otherwise."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DumpConfigError("file-open", f"dump configuration: {path} is no regular file")
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DumpConfigError("file-open", f"dump configuration: {path} cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise DumpConfigError("file-open", f"dump configuration: {path} is larger than {MAX_BYTES} bytes")
    return raw

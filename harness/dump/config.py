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
from typing import Any, Literal

from harness import log
from harness.dump import json_text
from harness.dump.check_common import MARKED
from harness.dump.check_method import NothingToDump
from harness.dump.draft import ASYNC, COMMON, E2E, Draft, Section
from harness.dump.generations import rules_for
from harness.dump.iteration import IterationSet
from harness.dump.rules import Method
from harness.dump.selection import KernelRule
from harness.errors import DumpConfigError

MAX_BYTES = 16 * 2**20
"""Largest file to read; MindSpore has no limit, but a device file would never end."""

_log = log.get("dump.config")


@dataclass(frozen=True, slots=True)
class DumpConfig:
    """A configuration after all checks and forced changes.

    Attributes:
        generation, backend: the rules used for reading it.
        method: ``e2e`` (kernel by kernel), ``async`` (Ascend's framing, or its npy), or ``off``: nothing is dumped.
        dump_mode: 0 dumps everything, 1 what ``kernels`` selects, 2 what set_dump marked; see ``selects``.
        path: absolute directory for the tree.
        net_name: name of the network's directory.
        iteration: labels of the steps to dump.
        input_output: 0 both, 1 inputs only, 2 outputs (and parameters) only.
        kernels: rules of dump_mode 1.
        empty_kernels_select_all: whether dump_mode 1 without a rule selects everything or nothing.
        support_device: device ids, each of 32 bits.
        op_debug_mode: 0 off, 3 overflow, 4 exception; in releases up to 2.2 (and with ``ENABLE_MS_GE_DUMP=1``) 1 AI
            core overflow, 2 atomic overflow, 3 both.
        overflow_number: number of operators to keep in mode 3; 0 means no limit.
        file_format: ``bin`` or ``npy``, for the asynchronous dump.
        saved_data: ``tensor``, ``statistic`` or ``full``.
        statistic_category: columns of ``statistic.csv``, in their order; empty with ``tensor``. Hashes are ``md5`` and
            ``sha1``.
        initial_iteration: label of the process's first step, 32 bits.
        synchronous: ``enable`` of the e2e section.
        trans_flag, save_kernel_args, stat_calc_mode, device_stat_precision_mode, sample_mode, sample_num: the fields of
        these names.
        ignore_useless_output: whether outputs that a kernel declares useless are left out (Ascend and GPU).
        raw: the bytes of the file or the text.
    """

    generation: str
    backend: str
    method: Method
    dump_mode: int
    path: str
    net_name: str
    iteration: IterationSet
    input_output: int
    kernels: tuple[KernelRule, ...]
    empty_kernels_select_all: bool
    support_device: tuple[int, ...]
    op_debug_mode: int
    overflow_number: int
    file_format: str
    saved_data: str
    statistic_category: tuple[str, ...]
    initial_iteration: int
    synchronous: bool
    trans_flag: bool
    save_kernel_args: bool
    stat_calc_mode: str
    device_stat_precision_mode: str
    sample_mode: int
    sample_num: int
    ignore_useless_output: bool
    raw: bytes

    @property
    def selects(self) -> Literal["everything", "kernels", "marked", "nothing"]:
        """What to dump: everything, what ``kernels`` names, what set_dump marked, or nothing."""
        if self.dump_mode == MARKED:
            return "marked"
        if self.dump_mode == 0 or (not self.kernels and self.empty_kernels_select_all):
            return "everything"
        return "kernels" if self.kernels else "nothing"

    @property
    def keeps_tensors(self) -> bool:
        """Whether tensors are written as files."""
        return self.saved_data != "statistic"

    @property
    def keeps_statistics(self) -> bool:
        """Whether ``statistic.csv`` is written."""
        return self.saved_data != "tensor"

    @property
    def wants_inputs(self) -> bool:
        """Whether operator inputs are dumped."""
        return self.input_output in (0, 1)

    @property
    def wants_outputs(self) -> bool:
        """Whether operator outputs and parameters are dumped."""
        return self.input_output in (0, 2)


def parse(
    source: str | bytes | os.PathLike[str],
    backend: str = "cpu",
    generation: str | None = None,
    environ: Mapping[str, str] = os.environ,
    *,
    device_id: int = 0,
    pynative: bool = False,
) -> DumpConfig:
    """Reads and checks a configuration.

    Args:
        source: JSON text (str or bytes), or the path of a file (any ``os.PathLike``).
        backend: backend whose rules apply: ``cpu``, ``gpu``, ``ascend``, ``ascend-o0``, ``ascend-o1`` or ``ascend-o2``.
        generation: generation whose rules apply (``2.7-2.10``, or a release); None for the backend's newest.
        environ: environment with ``MS_DIAGNOSTIC_DATA_PATH``, ``MINDSPORE_DUMP_IGNORE_USELESS_OUTPUT``,
            ``GRAPH_OP_RUN`` and ``ENABLE_MS_GE_DUMP``.
        device_id: this process's device, which ``support_device`` may not list.
        pynative: whether the process runs in PyNative mode.

    Raises:
        DumpConfigError: the original refuses the configuration as well.
        UnsupportedError: there are no rules for this backend and generation.
    """
    rules = rules_for(backend, generation)
    if isinstance(source, (str, bytes)):
        raw, where = (source if isinstance(source, bytes) else source.encode("utf-8", "surrogatepass")), "text"
    else:
        where = os.fspath(source)
        raw = read_file(where)
    top = _read_json(raw, where)
    fields: Mapping[str, Any] = top if isinstance(top, dict) else {}
    common, e2e, asynchronous = (_section(fields, name, where) for name in (COMMON, E2E, ASYNC))
    draft = Draft(common, e2e, asynchronous, where, rules, environ, device_id, pynative)
    try:
        for check in rules.checks:
            check(draft)
    except NothingToDump:
        draft.method = "off"
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
        raise DumpConfigError(kind, f"dump configuration: {where} is not JSON: {error}") from None


def _frozen(draft: Draft, raw: bytes) -> DumpConfig:
    taken = {
        name: getattr(draft, name)
        for name in DumpConfig.__dataclass_fields__
        if name not in ("generation", "backend", "empty_kernels_select_all", "raw")
    }
    rules = draft.rules
    return DumpConfig(
        generation=rules.generation,
        backend=rules.backend,
        empty_kernels_select_all=rules.empty_kernels_select_all,
        raw=raw,
        **taken,
    )


def resolve(value: str) -> Path:
    """The file that ``MINDSPORE_DUMP_CONFIG`` names, judged by its resolved path, as in the original.

    Raises:
        DumpConfigError: the file is missing, or its path has no dot or does not end in ``.json`` (lower case).
    """
    real = os.path.realpath(value)
    if not os.path.exists(real):
        raise DumpConfigError("file-missing", f"dump configuration: file {value!r} ({real}) does not exist")
    _, dot, suffix = real.rpartition(".")
    if not dot:
        raise DumpConfigError("file-nodot", f"dump configuration: {real!r} is not the name of a .json file")
    if suffix != "json":
        raise DumpConfigError("file-suffix", f"dump configuration: {real!r} ends in .{suffix}; accepted: .json")
    return Path(real)


def read_file(path: str) -> bytes:
    """Bytes of a regular file of at most ``MAX_BYTES``; ``DumpConfigError`` of kind ``file-open`` otherwise."""
    try:
        with open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NONBLOCK)) as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                raise DumpConfigError("file-open", f"dump configuration: {path} is not a regular file")
            raw = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise DumpConfigError("file-open", f"dump configuration: {path} cannot be read: {error.strerror}") from error
    if len(raw) > MAX_BYTES:
        raise DumpConfigError("file-open", f"dump configuration: {path} is larger than {MAX_BYTES} bytes")
    return raw

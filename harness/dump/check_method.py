"""Decides which dump a configuration requests: kernel by kernel (e2e), asynchronous, or none; and whether this process
dumps.

Source: dump_config.md 1.4, 2.1, 2.12, 2.13; the CPU of 2.10.0 measured, the rest from public source.
"""

from __future__ import annotations

from harness import log
from harness.dump.draft import ASYNC, COMMON, E2E, Draft
from harness.errors import DumpConfigError

_log = log.get("dump.config")


def warn(text: str) -> None:
    """Logs a warning about the configuration."""
    _log.warning("dump configuration: %s", text)


def graph_mode(draft: Draft) -> None:
    """PyNative mode: refused by releases 1.5 to 2.0, and outside Ascend by 2.3 to 2.6; up to 1.4 nothing is dumped."""
    if not draft.pynative:
        return
    if draft.rules.pynative == "refused":
        raise DumpConfigError(
            "pynative", f"dump configuration: {draft.where}: the dump needs GRAPH_MODE on {draft.rules.backend}; the "
            f"mode is PYNATIVE_MODE"
        )  # fmt: skip
    if draft.rules.pynative == "off":
        warn("nothing is dumped in PyNative mode")
        raise NothingToDump


def task_sink(draft: Draft) -> None:
    """``GRAPH_OP_RUN=1`` turns the dump of releases 1.5 to 1.7 off before the file is read."""
    if draft.environ.get("GRAPH_OP_RUN") == "1":
        warn("the dump needs sunk tasks; GRAPH_OP_RUN=1 turns it off")
        raise NothingToDump


class NothingToDump(Exception):
    """Nothing is dumped, so the rest of the file is not read."""


def e2e_by_presence(draft: Draft) -> None:
    """Releases from 2.3 on: the section turns the kernel-by-kernel dump on, whatever it holds."""
    if draft.e2e is not None:
        draft.method = "e2e"
    elif draft.rules.alerts_without_e2e:
        warn(f"{draft.where} has no {E2E}, which says that nothing is dumped; on {draft.rules.backend} the "
             f"{draft.rules.without_e2e} dump is on all the same")  # fmt: skip


def e2e_by_enable(draft: Draft) -> None:
    """Releases up to 2.2: ``enable`` turns it on."""
    if draft.synchronous:
        draft.method = "e2e"


def no_e2e_section(draft: Draft) -> None:
    """A graph that is sunk as a whole has no kernel-by-kernel dump."""
    if draft.e2e is not None:
        raise DumpConfigError(
            "section-e2e",
            f"dump configuration: {draft.where} has {E2E}, which is for jit_level O0 and O1; a graph that is sunk as a "
            f"whole (O2) takes only {COMMON}",
        )


def without_e2e(draft: Draft) -> None:
    """Handles a configuration without the kernel-by-kernel dump."""
    if draft.method != "e2e":
        draft.method = draft.rules.without_e2e
        if draft.method == "e2e":
            draft.trans_flag = True
            draft.sample_mode, draft.sample_num = 0, 100


def async_section(draft: Draft) -> None:
    """Releases 1.0 to 1.2: a section of its own, with ``op_debug_mode`` in it."""
    section = draft.asynchronous
    if section is None:
        return
    for key in ("enable", "op_debug_mode"):
        if key not in section:
            raise DumpConfigError(
                f"missing:{key}", f"dump configuration: {draft.where} has no {ASYNC}.{key}, which is required"
            )
    if section.boolean("enable") and draft.rules.target == "Ascend":
        draft.method = "async"
    draft.op_debug_mode = section.uint("op_debug_mode")
    if draft.op_debug_mode not in draft.rules.op_debug_modes:
        accepted = ", ".join(map(str, draft.rules.op_debug_modes))
        raise section.error("value:op_debug_mode", "op_debug_mode", f"accepted: {accepted}")


def common_section(draft: Draft) -> None:
    if draft.common is None:
        raise DumpConfigError(
            f"missing:{COMMON}", f"dump configuration: {draft.where} has no {COMMON}, which is required"
        )


def enabled(draft: Draft) -> None:
    """Releases 1.2 to 1.7 require one of the dumps when ``iteration`` is read; on the CPU 1.5 to 1.7 only warn."""
    if draft.method == "off" and not draft.rules.off_is_warned:
        raise DumpConfigError(
            "not-enabled", f"dump configuration: {draft.where}: neither dump is on; accepted on {draft.rules.backend}: "
            f"{E2E}.enable true"
        )  # fmt: skip


def not_enabled(draft: Draft) -> None:
    if draft.method == "off":
        warn(f"{draft.where} turns no dump on; nothing is dumped")


def device_listed(draft: Draft) -> None:
    """A process whose device ``support_device`` does not list dumps nothing."""
    if draft.method != "off" and draft.device_id not in draft.support_device:
        warn(f"support_device does not list this process's device {draft.device_id}; nothing is dumped")
        draft.method = "off"


def host_order(draft: Draft) -> None:
    """On the GPU, tensors are always written in host order."""
    draft.trans_flag = True


def whole_tensors(draft: Draft) -> None:
    """On the GPU, tensors are always written whole, without a warning."""
    draft.sample_mode = 0


def graph_mode_if_e2e(draft: Draft) -> None:
    """Ascend, releases 2.3 to 2.6: in PyNative mode only the asynchronous dump works, and not for what set_dump
    marked."""
    if draft.pynative and (draft.method == "e2e" or draft.dump_mode == 2):
        raise DumpConfigError(
            "pynative", f"dump configuration: {draft.where}: {E2E} and dump_mode 2 need GRAPH_MODE; the mode is "
            f"PYNATIVE_MODE"
        )  # fmt: skip
